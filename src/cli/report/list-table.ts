import { isWithin } from "../../base/paths/is-within.ts";
import type { Problem } from "../../skills/rules/problem.ts";
import type { Root } from "../../skills/scan/roots.ts";
import type { OfferedSkill, Snapshot } from "../../skills/skill.ts";
import { cutToWidth } from "./display-width.ts";
import { sayCounts } from "./say-counts.ts";
import { safeText } from "./safe-text.ts";
import { shownPath } from "./shown-path.ts";
import { counted, table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** Prints one skill per line, and a summary of the problems on stderr. */
export async function printTable(
  { skills, problems, counts }: Snapshot,
  roots: readonly Root[],
  terminal: Terminal,
): Promise<void> {
  if (skills.length > 0) await terminal.print(skillTable(skills, terminal));
  else terminal.tell(`no skills found in ${roots.map((root) => shownPath(root.path, terminal.cwd)).join(", ")}`);
  if (problems.length > 0) terminal.tell(sayProblems({ skills, problems }, roots, terminal));
  if (counts !== undefined) terminal.tell(sayCounts(counts));
}

/** How many problems there are, and the command that shows them, with the roots of skills that shadow others. */
function sayProblems(
  { skills, problems }: Pick<Snapshot, "skills" | "problems">,
  roots: readonly Root[],
  { cwd }: Pick<Terminal, "cwd">,
): string {
  const count = (wanted: Problem["severity"]): number => problems.filter(({ severity }) => severity === wanted).length;
  const [errors, warnings, notes] = [count("error"), count("warning"), count("note")];
  const parts = [
    ...(errors > 0 ? [counted(errors, "error")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(notes > 0 ? [counted(notes, "note")] : []),
  ];
  const isShadowed = problems.some(({ code }) => code === "skill-shadowed");
  const used = new Set(isShadowed ? skills.flatMap(({ sources }) => sources) : []);
  const places = roots.filter(({ path }) => used.has(path) || problems.some(({ file }) => isWithin(file, path)));
  const shown = places.map(({ path }) => shellWord(shownPath(path, cwd))).join(" ");
  return `${parts.join(", ")}; details: acp-skills check --level lenient ${shown}`.trimEnd();
}

/** A path, quoted for a shell if necessary. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
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
