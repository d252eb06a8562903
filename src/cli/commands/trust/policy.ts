import path from "node:path";
import { listing } from "../../arguments/shared-options.ts";
import { defineCommand, usageError, type OptionValues, type ExitCode, exit } from "../../command.ts";
import {
  type PolicyLayer,
  readPolicyText,
  toLayer,
  type PolicyDecision,
  type JudgedSkill,
  explainPolicies,
} from "../../../runtime/trust.ts";
import { policyFileName } from "../../../base/paths/directories.ts";
import { policiesIn } from "../../arguments/policies.ts";
import { directoryFault } from "../../arguments/values.ts";
import { padToWidth, table } from "../../report/table.ts";
import { labelled, safeText } from "../../report/safe-text.ts";
import { saySeverities, prettyProblem } from "../../report/problem-report.ts";
import { shownPath } from "../../../base/paths/location.ts";
import type { Terminal } from "../../report/terminal.ts";
import { toJudgedSkill } from "../../../runtime/runs.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../skills/files.ts";
import { createSkillHasher } from "../../../skills/hash.ts";
import { viewSkills } from "../../../runtime/caller.ts";
import { createListing, findOffered } from "../../listing.ts";

export const command = defineCommand({
  usage: "policy check [FILE] | explain NAME [options]",
  positionals: { name: "action: check or explain", minimum: 1, maximum: 2, values: ["check", "explain"] },
  options: listing,
  examples: ["policy check", "policy check ./acp-skills.policy.json", "policy explain salesforce.leads.sync --json"],
  notes: [
    "check: validate the policies that count here: of the organisation, of $ACP_SKILLS_POLICY, and of the project; or one FILE.",
    "explain NAME: what the policies decide about a skill, and which rule decides it. Approvals of people are in acp-skills approvals.",
    "check exits with 1 if a file has an error.",
  ],
  async run({ options, positionals: [action = "", argument] }, terminal) {
    if (action !== "check" && action !== "explain") throw usageError(`unknown action ${action}; use check or explain`);
    if (action === "check") return await checkPolicies(argument, options, terminal);
    if (argument === undefined) throw usageError("missing NAME");
    return await explainSkill(argument, options, terminal);
  },
});

/** Prints the problems of one file, or of the policies that apply in a directory. */
async function checkPolicies(
  file: string | undefined,
  { cwd: asked, json }: OptionValues<typeof listing>,
  terminal: Terminal,
): Promise<ExitCode> {
  const { cwd, home } = terminal;
  const directory = path.resolve(cwd, asked ?? ".");
  const fault = asked === undefined ? [] : directoryFault("--cwd", directory);
  for (const sentence of fault) terminal.note(sentence);
  const layers =
    file === undefined
      ? policiesIn(directory, terminal)
      : [toLayer({ file: path.resolve(cwd, file), origin: "project" }, home)];
  const problems = layers.flatMap((layer) => layer.problems);
  if (json === true) await terminal.printJson({ files: layers.map(toShownFile), problems });
  else if (layers.length === 0) terminal.note(`no policy counts here; a project's is in ${policyFileName}`);
  else await terminal.print(describeLayers(layers, terminal, file === undefined));
  if (fault.length > 0) return exit.usage;
  return layers.some(({ policy }) => policy === undefined) ? exit.found : exit.done;
}

/** Lists each problem with a code frame, then one line for each file. */
function* describeLayers(layers: readonly PolicyLayer[], terminal: Terminal, hasOrigins: boolean): Iterable<string> {
  const { cwd, paint } = terminal;
  for (const { file, origin, problems } of layers) {
    const found = problems.length === 0 ? undefined : readPolicyText(file, origin);
    const lines = found !== undefined && "text" in found ? found.text.split(/\r\n?|\n/) : [];
    const sourceLine = (_file: string, line: number): string | undefined => lines[line - 1];
    for (const problem of problems) yield prettyProblem(problem, { ...terminal, cwd, paint, sourceLine });
  }
  for (const { file, origin, policy, problems } of layers) {
    const label = hasOrigins ? `${padToWidth(origin, "configuration".length)}  ` : "";
    const count = problems.length === 0 ? paint("green", "no problems") : saySeverities(problems, paint);
    const unused = policy === undefined ? "; nothing beyond the sandbox is allowed where it counts" : "";
    yield `${label}${safeText(shownPath(file, cwd))}: ${count}${unused}\n`;
  }
}

/** Prints the decisions of the policies about a skill, each with its rules. */
async function explainSkill(
  name: string,
  options: OptionValues<typeof listing>,
  terminal: Terminal,
): Promise<ExitCode> {
  const { directory, catalog, status } = await createListing(options, terminal);
  const { skill } = findOffered(catalog, name);
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const { files, digest = "" } = await createSkillHasher().hash(source, skill.directory, new AbortController().signal);
  const skills = viewSkills(catalog.snapshot, undefined);
  const judged: JudgedSkill = { ...toJudgedSkill(skill, { skills, sourceOf: () => source }), digest };
  const layers = policiesIn(directory, terminal);
  const hasCode = skill.kind === "action" || files.some((file) => file.path.startsWith("scripts/"));
  const about = { skill: judged, wants: permissionsOf(skill), hasCode, home: terminal.home };
  const decisions = explainPolicies(layers, about);
  if (options.json === true) await terminal.printJson(toShown(judged, layers, decisions));
  else await terminal.print(describeDecisions(judged, { layers, decisions }, terminal));
  return status;
}

function toShownFile({ origin, file, policy }: PolicyLayer): object {
  return { origin, file, used: policy !== undefined };
}

/** The decisions as JSON, with keys in a fixed order. */
function toShown(judged: JudgedSkill, layers: readonly PolicyLayer[], decisions: readonly PolicyDecision[]): object {
  const { name, version, digest, isOwn, source, license } = judged;
  return {
    name,
    version,
    digest,
    source,
    own: isOwn,
    license: license?.() ?? "unspecified",
    files: layers.map(toShownFile),
    decisions: decisions.map(({ about, verdict, why, position }) => ({ about, verdict, why, ...position })),
  };
}

function* describeDecisions(
  { name, version, digest, isOwn, source }: JudgedSkill,
  { layers, decisions }: { readonly layers: readonly PolicyLayer[]; readonly decisions: readonly PolicyDecision[] },
  terminal: Terminal,
): Iterable<string> {
  const { cwd, paint } = terminal;
  const field = labelled(paint, 10);
  yield field("skill", `${name} ${version}`);
  yield field("digest", digest);
  yield field("source", `${shownPath(source, cwd)}${isOwn ? "" : ", of the project"}`);
  for (const { file, policy } of layers)
    yield field(
      "policy",
      `${shownPath(file, cwd)}${policy === undefined ? ", not used: see acp-skills policy check" : ""}`,
    );
  if (layers.length === 0) yield field("policy", "none");
  yield "\n";
  const rows = decisions.map(({ about, verdict, why, position }) => {
    const where = position === undefined ? "" : `${shownPath(position.file, cwd)}:${position.line}:${position.column}`;
    return [about, verdict, why, where].map((cell) => safeText(cell));
  });
  yield* table(["WHAT", "VERDICT", "RULE", "WHERE"], rows, terminal);
}
