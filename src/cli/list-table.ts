import { isWithin } from "../is-within.ts";
import type { Problem } from "../skills/problem.ts";
import type { Root } from "../skills/roots.ts";
import type { OfferedSkill, Snapshot } from "../skills/skill.ts";
import { counted } from "./counted.ts";
import { cutToWidth } from "./display-width.ts";
import { sayCounts } from "./say-counts.ts";
import { safeText } from "./safe-text.ts";
import { shownPath } from "./shown-path.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** Prints one skill a line, for people; how many problems there are is told. */
export async function printTable(
  { skills, problems, counts }: Snapshot,
  roots: readonly Root[],
  terminal: Terminal,
): Promise<void> {
  if (skills.length > 0) await terminal.print(skillTable(skills, terminal));
  else terminal.tell(`no skills found in ${roots.map((root) => shownPath(root.path, terminal.cwd)).join(", ")}`);
  if (problems.length > 0) terminal.tell(sayProblems(problems, roots, terminal));
  if (counts !== undefined) terminal.tell(sayCounts(counts));
}

/** How many problems there are, and what shows them. */
function sayProblems(problems: readonly Problem[], roots: readonly Root[], { cwd }: Terminal): string {
  const count = (wanted: Problem["severity"]): number => problems.filter(({ severity }) => severity === wanted).length;
  const [errors, warnings, notes] = [count("error"), count("warning"), count("note")];
  const parts = [
    ...(errors > 0 ? [`${counted(errors, "problem")} that left something out`] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(notes > 0 ? [counted(notes, "note")] : []),
  ];
  const places = roots.filter(({ path }) => problems.some(({ file }) => isWithin(file, path)));
  const shown = places.map(({ path }) => shownPath(path, cwd)).join(" ");
  return `${parts.join(", ")}; see acp-skills check --level lenient ${shown}`.trimEnd();
}

function skillTable(skills: readonly OfferedSkill[], { cwd, home, paint, columns }: Terminal): Iterable<string> {
  const place = (directory: string): string => {
    const inProject = shownPath(directory, cwd);
    if (inProject !== directory) return inProject;
    const atHome = shownPath(directory, home);
    return atHome === directory ? directory : `~/${atHome}`;
  };
  const widestSource = columns === undefined ? Infinity : Math.floor(columns / 5);
  const rows = skills.map(({ skill, sources }) => [
    skill.slug,
    safeText(skill.version),
    skill.kind,
    cutToWidth(safeText(place(sources[0] ?? skill.directory)), widestSource),
    safeText(skill.description),
  ]);
  return table(["NAME", "VERSION", "KIND", "SOURCE", "DESCRIPTION"], rows, columns, paint);
}
