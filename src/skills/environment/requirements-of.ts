import { runInSlices } from "../../base/promises.ts";
import { withoutControls } from "../../base/text/unsafe-characters.ts";
import type { SkillSource } from "../files.ts";
import { orNothing, walkSkill } from "../hash.ts";
import { fromUse, permissionsOf } from "../permissions.ts";
import { type Skill, requirementsFile } from "../skill.ts";
import { type ProgramDemand, type Requirement, isCommandName } from "./requirement.ts";

/** The requirements in the frontmatter of a skill: its `compatibility`, quoted unchanged, and those that its keys declare. */
export function statedRequirements({ compatibility, requires = [] }: Skill): readonly Requirement[] {
  if (compatibility === undefined) return requires;
  const where = { file: "SKILL.md", field: "compatibility", text: compatibility };
  return [{ kind: "text", certainty: "unclear", where }, ...requires];
}

/** The permissions of a skill that not every sandbox supports. */
export function sandboxNeeds(skill: Skill): readonly string[] {
  const { network, project, isolation } = permissionsOf(skill);
  if (skill.manifest?.remote !== undefined || isolation !== undefined) return [];
  return [...(network.length > 0 ? ["network access"] : []), ...(project === "none" ? [] : ["project access"])];
}

/** The sandbox in which the skill's code runs; undefined if nothing says that it has code. */
export function sandboxRequirement(skill: Skill): Requirement | undefined {
  const { runtime } = skill.manifest ?? {};
  const needs = sandboxNeeds(skill);
  if (runtime === undefined && needs.length === 0) return undefined;
  const where =
    runtime === undefined
      ? { file: "SKILL.md", field: "metadata", text: needs.join(", ") }
      : { file: "skill.toml", field: "runtime", text: `${runtime.language}: ${runtime.entrypoint}` };
  return { kind: "sandbox", needs, certainty: "declared", where };
}

/** The requirements for running the skill's code through acp-skills, from its manifest or its `acp-skills-…` metadata. */
export function codeRequirements(skill: Skill): readonly Requirement[] {
  const { manifest } = skill;
  const { network, secrets: read, uses = [] } = permissionsOf(skill);
  const secrets = [...new Set([...read, ...uses.map((use) => fromUse(use).name)])];
  const fields = { network: "permissions.network", secrets: "permissions.secrets" };
  if (manifest === undefined)
    Object.assign(fields, { network: "metadata.acp-skills-network", secrets: "metadata.acp-skills-secrets" });
  else if (manifest.remote !== undefined)
    Object.assign(fields, { network: "remote.endpoint", secrets: "remote.secret" });
  const file = manifest === undefined ? "SKILL.md" : "skill.toml";
  const whereIn = (field: string, text: string): Requirement["where"] => ({ file, field, text });
  const certainty = "declared";
  const sandbox = sandboxRequirement(skill);
  const hosts = network.map((origin) => origin.replace(/^https?:\/\//, ""));
  const networkLocation = whereIn(fields.network, network.join(" "));
  return [
    ...(sandbox === undefined ? [] : [sandbox]),
    ...(hosts.length === 0 ? [] : [{ kind: "network", hosts, certainty, where: networkLocation } as const]),
    ...secrets.map((secret) => {
      return { kind: "secret", secret, certainty, where: whereIn(fields.secrets, secret) } as const;
    }),
    ...(manifest?.dependencies?.skills ?? []).map((name) => {
      return { kind: "skill", skill: name, certainty, where: whereIn("dependencies.skills", name) } as const;
    }),
  ];
}

const maxFileBytes = 64 * 1024;
const maxFirstLineBytes = 256;
const maxPackages = 16;

const python: ProgramDemand = { name: "Python", commands: ["python3", "python", "py"] };
const node: ProgramDemand = { name: "Node.js", commands: ["node"] };
const powershell = ["pwsh", "powershell"].map((command) => ({ name: command, commands: [command] }));

/** The programs that run a script, by the extension of its name. */
const interpreters: Readonly<Record<string, readonly ProgramDemand[]>> = {
  py: [python],
  js: [node],
  mjs: [node],
  cjs: [node],
  sh: [{ name: "Bash", commands: ["bash"] }],
  rb: [{ name: "Ruby", commands: ["ruby"] }],
  pl: [{ name: "Perl", commands: ["perl"] }],
  ps1: powershell,
};

/** Features for scripts that not every sandbox supports, by the extension of their names. */
const scriptNeeds = new Map([
  ["sh", "scripts in bash"],
  ["js", "scripts in Node"],
  ["mjs", "scripts in Node"],
]);

/**
 * The requirements that follow from the files of a skill: the interpreters of `scripts/`, by their first line or extension, and the
 * packages of `code/requirements.txt`. Also a sandbox for scripts that not every sandbox runs, although an agent may run them itself.
 * Reads the directory; omits files that cannot be read.
 */
export async function readFileRequirements(skill: Skill, source: SkillSource): Promise<readonly Requirement[]> {
  const isLeftOut = (path: string): boolean => !path.startsWith("scripts/") && path !== "code/";
  const walked = await runInSlices(walkSkill(source.files, skill.directory, isLeftOut));
  /** The scripts by the name of the program that runs them. */
  const scripts = new Map<string, { readonly anyOf: readonly ProgramDemand[]; readonly files: string[] }>();
  const needs = new Map<string, string>();
  const requirements: Requirement[] = [];
  const at = (file: string, text = file): Requirement["where"] => ({ file, field: "", text: withoutControls(text) });
  for (const { path, real } of walked.files) {
    const read = (limit: number): string =>
      Buffer.from(orNothing(() => source.bytes.head(real, limit))?.bytes ?? []).toString("utf8");
    const packages = path === requirementsFile ? readPackages(read(maxFileBytes)) : [];
    if (packages.length > 0)
      requirements.push({ kind: "packages", packages, certainty: "declared", where: at(path, packages.join(", ")) });
    if (!path.startsWith("scripts/")) continue;
    const need = scriptNeeds.get(endOf(path));
    if (need !== undefined && !needs.has(need)) needs.set(need, path);
    const anyOf = interpreterOf(path, read(maxFirstLineBytes));
    if (anyOf === undefined) continue;
    const key = anyOf.map(({ name }) => name).join(" ");
    const same = scripts.get(key) ?? { anyOf, files: [] };
    scripts.set(key, same);
    same.files.push(path);
  }
  const programs = Array.from(scripts.values(), ({ anyOf, files: [first = "", ...more] }): Requirement => {
    const where = at(first, more.length === 0 ? first : `${first} and ${more.length} more`);
    return { kind: "program", anyOf, certainty: "derived", where };
  });
  for (const [need, file] of needs)
    requirements.push({ kind: "sandbox", needs: [need], certainty: "likely", where: at(file) });
  return [...programs, ...requirements];
}

function endOf(path: string): string {
  return /\.([a-z0-9]+)$/.exec(path)?.[1] ?? "";
}

/** The program that runs a script; undefined if neither its first line nor its name determines it. */
export function interpreterOf(path: string, head: string): readonly ProgramDemand[] | undefined {
  const extension = endOf(path);
  const byName = Object.hasOwn(interpreters, extension) ? interpreters[extension] : undefined;
  // The first line counts only if the name has no extension: acp-skills itself runs scripts by their names.
  if (byName !== undefined || path.slice(path.lastIndexOf("/")).includes(".")) return byName;
  const [, program = "", argument = ""] = /^#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(head) ?? [];
  const base = program.slice(program.lastIndexOf("/") + 1);
  const command = base === "env" ? argument : base;
  if (!isCommandName(command)) return undefined;
  return (
    Object.values(interpreters).find(([first]) => first?.commands.includes(command)) ?? [
      { name: command, commands: [command] },
    ]
  );
}

/** The first lines of a requirements.txt without comments and options, then the number of the others. */
function readPackages(text: string): readonly string[] {
  const withoutComments = text.replace(/(^|\s)#.*$/gm, "").split(/\r\n|\r|\n/);
  const lines = withoutComments
    .map((line) => withoutControls(line).trim().slice(0, 100))
    .filter((line) => line !== "" && !line.startsWith("-"));
  const more = lines.length - maxPackages;
  return more > 0 ? [...lines.slice(0, maxPackages), `${more} more`] : lines;
}
