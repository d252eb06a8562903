import { existsSync } from "node:fs";
import path from "node:path";
import { isWithin, homePath, shownPath } from "../../../base/paths/location.ts";
import type { Standings } from "../../../runtime/runs.ts";
import type { Root } from "../../../skills/skillset.ts";
import { type Signature, signatureWords } from "../../../skills/signature.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../../skills/skill.ts";
import { toAvailableSkill } from "../../../wire/command-facts.ts";
import { listing, trustedRoot } from "../../arguments/shared-options.ts";
import { defineCommand } from "../../command.ts";
import { findStates, createListing } from "../../listing.ts";
import { cutToWidth, table } from "../../report/table.ts";
import { jsonLines } from "../../report/json-output.ts";
import { safeText } from "../../report/safe-text.ts";
import { sayCounts, saySeverities } from "../../report/problem-report.ts";
import { type Terminal, noteSome } from "../../report/terminal.ts";
import { shortList } from "../../../base/text/code-points.ts";
import { shellWord } from "../../../base/text/quoted.ts";

export const command = defineCommand({
  options: { ...listing, "trusted-root": trustedRoot },
  examples: ["list", "list --skills ./skills --no-default-roots --json"],
  notes: [
    "SIGNATURE: who signed a skill; shown only where one is signed.",
    "STATE: needs-approval, blocked (by you) or denied (by a policy); shown only where a skill cannot be used now.",
    "Problems of skills do not change the exit status; acp-skills check is for that.",
  ],
  async run({ options }, terminal) {
    const { directory, catalog, roots, status } = await createListing(options, terminal);
    const { snapshot } = catalog;
    const { skills, problems, counts = null } = snapshot;
    const states = await findStates(skills, directory, terminal);
    const signatures = await findSigned(skills, options["trusted-root"], terminal);
    if (options.json === true)
      await terminal.print(jsonLines({ skills: listedSkills(skills, { states, signatures }), problems, counts }));
    else {
      await printTable({ ...snapshot, states, signatures }, roots, terminal);
      await reportMissing(directory, terminal);
    }
    return status;
  },
});

/** Reports skills that the project's lock names and that are not installed, as in a fresh clone. */
async function reportMissing(directory: string, terminal: Terminal): Promise<void> {
  if (!existsSync(path.join(directory, "skills-lock.json"))) return;
  const { missingSkills } = await import("../../../sources/installed.ts");
  const missing = missingSkills(directory, terminal.home, process.env);
  if (missing.length > 0)
    terminal.note(
      `skills-lock.json names ${missing.length === 1 ? "a skill that is" : "skills that are"} not here (${shortList(missing, 10)}): acp-skills add installs exactly what it names`,
    );
}

/** Finds the signatures of skills. Loads nothing if no skill has one. */
async function findSigned(
  skills: readonly OfferedSkill[],
  trustedRoot: string | undefined,
  terminal: Terminal,
): Promise<ReadonlyMap<Skill, Signature>> {
  if (trustedRoot === undefined && !skills.some(({ skill }) => skill.hasSignature === true)) return new Map();
  return await (await import("../../listing/find-signatures.ts")).findSignatures(skills, trustedRoot, terminal);
}

function* listedSkills(skills: readonly OfferedSkill[], { states, signatures }: TableFacts): Iterable<object> {
  for (const offered of skills) {
    const facts = { state: states.get(offered.skill), signature: signatures.get(offered.skill) };
    yield Object.assign(toListedSkill(offered, facts), { problems: offered.problems });
  }
}

/**
 * One skill as JSON, with keys in a fixed order: the fields that editors receive and the path of its SKILL.md. Adds `digest` if it was
 * computed, `state` if the skill cannot be used now, and `signature` if it was verified.
 */
export function toListedSkill(
  offered: OfferedSkill,
  facts: Partial<Record<"digest" | "state", string | undefined>> & { readonly signature?: Signature | undefined } = {},
): object {
  const { digest, state, signature } = facts;
  return Object.assign(toAvailableSkill(offered, { digest }), { path: offered.skill.file, digest, state, signature });
}

/** The maximum number of problems of sources that are printed one by one. */
const maxShown = 10;

/** Prints one skill per line, and a summary of the problems on stderr. */
async function printTable(
  { skills, problems, counts, ...facts }: Snapshot & TableFacts,
  roots: readonly Root[],
  terminal: Terminal,
): Promise<void> {
  if (skills.length > 0) await terminal.print(skillTable(skills, facts, terminal));
  else if (roots.length === 0) terminal.note("there is no directory to search; give one with --skills");
  else
    terminal.note(
      `no skills found in ${roots.map(({ path, remote }) => remote?.label ?? shownPath(path, terminal.cwd)).join(", ")}`,
    );
  // Skills of a source cannot be checked by path: they are in the store of copies.
  const labels = roots.flatMap(({ remote }) => remote?.label ?? []);
  const isOwn = ({ file }: (typeof problems)[number]): boolean =>
    labels.length === 0 || roots.some(({ path, remote }) => remote === undefined && isWithin(file, path));
  const own = problems.filter(isOwn);
  const from = labels.length === 1 ? (labels[0] ?? "") : "of a source";
  const theirs = problems.filter((problem) => !isOwn(problem)).map(({ message }) => `${from}: ${message}`);
  if (own.length > 0) terminal.note(sayProblems({ skills, problems: own }, roots, terminal));
  noteSome(theirs, maxShown, terminal);
  const left = counts && sayCounts(counts);
  if (left !== undefined) terminal.note(left);
}

/** How many problems there are, and the command that shows them, with the roots of skills that shadow others. */
function sayProblems(
  { skills, problems }: Pick<Snapshot, "skills" | "problems">,
  roots: readonly Root[],
  { cwd }: Pick<Terminal, "cwd">,
): string {
  const isShadowed = problems.some(({ code }) => code === "skill-shadowed");
  const used = new Set(isShadowed ? skills.flatMap(({ sources }) => sources) : []);
  const shownRoots = roots.filter(({ path }) => used.has(path) || problems.some(({ file }) => isWithin(file, path)));
  const shown = shownRoots.map(({ path }) => shellWord(shownPath(path, cwd))).join(" ");
  return `${saySeverities(problems)}; details: acp-skills check --level lenient ${shown}`.trimEnd();
}

interface TableFacts {
  readonly states: Standings;
  readonly signatures: ReadonlyMap<Skill, Signature>;
}

function skillTable(
  skills: readonly OfferedSkill[],
  { states, signatures }: TableFacts,
  terminal: Terminal,
): Iterable<string> {
  const { cwd, home, columns } = terminal;
  const shownRoot = (directory: string): string => {
    const inProject = shownPath(directory, cwd);
    return inProject === directory ? homePath(directory, home) : inProject;
  };
  const widestSource = columns === undefined ? Infinity : Math.floor(columns / 5);
  const rows = skills.map(({ skill, sources, remote }) => [
    skill.slug,
    safeText(skill.version),
    skill.kind,
    states.get(skill) ?? "",
    signatures.size === 0
      ? ""
      : cutToWidth(signatureWords(signatures.get(skill) ?? { state: "unsigned" }), widestSource),
    cutToWidth(safeText(remote?.label ?? shownRoot(sources[0] ?? skill.directory)), widestSource),
    safeText(skill.description),
  ]);
  return table(["NAME", "VERSION", "KIND", "STATE", "SIGNATURE", "SOURCE", "DESCRIPTION"], rows, terminal);
}
