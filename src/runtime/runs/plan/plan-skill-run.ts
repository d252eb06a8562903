import satisfies from "semver/functions/satisfies.js";
import { asAvailable, nearest } from "../../../base/text/nearest.ts";
import {
  type Violation,
  argumentTypes,
  invalidInput,
  maxViolations,
  noSuchParameter,
  shown,
} from "../../../base/failures/invalid-input.ts";
import { runInSlices } from "../../../base/promises.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { Json } from "../../sandbox.ts";
import { walkSkill } from "../../../skills/hash.ts";
import { type Capabilities, isNothing, permissionsOf } from "../../../skills/permissions.ts";
import { type Skill, isScript } from "../../../skills/skill.ts";
import type { RunSpec } from "../run-spec.ts";
import { checkDepth, splitByNeeds, toSpec } from "./plan-run.ts";
import { type Manifest, isChoice, isOfType } from "../../../skills/manifest.ts";
import { isBlobId } from "../../blobs/blob-rules.ts";
import type { Planning, RequestedLimits, RunArguments } from "../plan.ts";
import type { CallerSkills } from "../run-caller.ts";

export interface SkillRunRequest extends RequestedLimits {
  /** Canonical name or slug. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly args?: RunArguments | undefined;
  readonly script?: string | undefined;
}

const tool = "execute_skill";

/** Plans a run of a skill. Throws if the request itself is invalid. */
export async function planSkillRun(planning: Planning, request: SkillRunRequest): Promise<RunSpec> {
  const { caller } = planning;
  const { name, version, args: given = {}, script } = request;
  const { skill } = caller.skills.find(name, version);
  checkDepth(tool, given);
  if (script === undefined && skill.kind === "instruction") throw notExecutable(skill);
  if (script === undefined && skill.manifest?.remote !== undefined && (request.inputBlobs ?? []).length > 0)
    throw invalidInput(tool, [{ field: "/input_blobs", expected: nothingToMount, actual: request.inputBlobs?.length }]);
  const { args, blobs } = checkArgs(tool, given, script === undefined ? skill.manifest?.inputs : scriptInputs);
  const program = script === undefined ? programOf(skill, args) : await scriptOf(planning, skill, script, args);
  const dependencies = dependenciesOf(skill, caller.skills);
  // A skill's dependencies never run with that skill's permissions.
  const isPlain = isNothing(permissionsOf(skill));
  const importable = splitByNeeds(caller, dependencies);
  return await toSpec(planning, program, {
    skill,
    mounted: [skill, ...(isPlain ? importable.mounted : [])],
    brokered: isPlain ? importable.brokered : dependencies,
    request: { ...request, inputBlobs: [...(request.inputBlobs ?? []), ...(program.type === "remote" ? [] : blobs)] },
    tool,
  });
}

const nothingToMount = "none, because the skill runs on another machine";

/** Returns the program that calls a skill's entrypoint, here or on the machine that offers the skill. */
export function programOf({ name, manifest }: Skill, args: Json): RunSpec["program"] {
  return manifest?.remote === undefined
    ? { type: "skill", skill: name, args }
    : { type: "remote", skill: name, endpoint: manifest.remote.endpoint, args };
}

const languages: Readonly<Record<string, "python" | "bash" | "node">> = {
  py: "python",
  sh: "bash",
  js: "node",
  mjs: "node",
};

async function scriptOf(
  { caller }: Planning,
  skill: Skill,
  file: string,
  args: RunArguments,
): Promise<RunSpec["program"]> {
  const { files } = caller.sourceOf(skill);
  const walk = await runInSlices(walkSkill(files, skill.directory));
  const scripts = walk.files.map(({ path }) => path).filter(isScript);
  if (!scripts.includes(file)) {
    const available = nearest(file, scripts, asAvailable);
    const message = `The skill ${skill.name} has no script ${JSON.stringify(file.slice(0, 512))} that can be run.`;
    const hint = scripts.length === 0 ? "It has no scripts." : "describe_skill lists them.";
    throw new SkillsError("FILE_NOT_FOUND", message, { facts: { available, hint } });
  }
  const language = languages[file.slice(file.lastIndexOf(".") + 1)] ?? "bash";
  return { type: "script", skill: skill.name, file, language, ...scriptArguments(args) };
}

const maxArgv = 256;
const scriptInputs = { argv: { type: "array" }, stdin: { type: "string" } } as const;

/** Checks the arguments of a script, which are text. Throws VALIDATION_ERROR. */
function scriptArguments(args: RunArguments): { readonly argv: readonly string[]; readonly stdin?: string } {
  const { argv = [], stdin } = args as { argv?: Json[]; stdin?: string };
  if (argv.length > maxArgv) {
    throw invalidInput(tool, [{ field: "/args/argv", expected: `at most ${maxArgv} strings`, actual: argv.length }]);
  }
  const wrong = argv.findIndex((value) => typeof value !== "string" || value.includes("\0"));
  if (wrong !== -1) {
    const [field, expected] = [`/args/argv/${wrong}`, "a string without NUL"];
    throw invalidInput(tool, [{ field, expected, actual: shown(argv[wrong]) }]);
  }
  return { argv: argv as readonly string[], ...(stdin !== undefined && { stdin }) };
}

function notExecutable({ name }: Skill): SkillsError {
  const hint = `Call describe_skill with name ${JSON.stringify(name)} and detail "full" and follow its instructions; run a file under scripts/ with the parameter script.`;
  return new SkillsError("NOT_EXECUTABLE", `The skill ${name} is an instruction: it has no entrypoint to execute.`, {
    facts: { hint },
  });
}

/**
 * Validates arguments against a manifest's `inputs` and fills in its defaults. `blobs`: the ids in arguments of type `blob`. Throws a
 * VALIDATION_ERROR with the first 20 violations.
 */
function checkArgs(tool: string, args: RunArguments, inputs: Manifest["inputs"]) {
  if (inputs === undefined) return { args, blobs: [] };
  const declared = Object.entries(inputs);
  const names = declared.map(([name]) => name);
  const unknown = Object.keys(args)
    .filter((name) => !Object.hasOwn(inputs, name))
    .slice(0, maxViolations);
  const violations: Violation[] = unknown.map((name) => ({
    field: pointer(name),
    expected: noSuchParameter,
    actual: shown(args[name]),
  }));
  const whole: [string, Json][] = [];
  const blobs: string[] = [];
  for (const [name, argument] of declared) {
    const { type, required = false, default: preset, enum: choices = [] } = argument;
    const value = Object.hasOwn(args, name) ? args[name] : (preset as Json | undefined);
    if (value === undefined) {
      if (required) violations.push({ field: pointer(name), expected: argumentTypes[type], actual: null });
      continue;
    }
    whole.push([name, value]);
    const fits = type === "blob" ? typeof value === "string" && isBlobId(value) : isOfType(value, type);
    if (!fits) violations.push({ field: pointer(name), expected: argumentTypes[type], actual: shown(value) });
    else if (!isChoice(value, argument)) {
      const expected = `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
      violations.push({ field: pointer(name), expected, actual: shown(value) });
    } else if (type === "blob" && typeof value === "string") blobs.push(value);
  }
  if (violations.length === 0) return { args: Object.fromEntries(whole), blobs };
  const [misspelt] = unknown;
  if (misspelt === undefined) throw invalidInput(tool, violations);
  const available = nearest(misspelt, names, asAvailable);
  const hint = available[0] === undefined ? "The skill takes no arguments." : `Did you mean ${available[0]}?`;
  throw invalidInput(tool, violations, { hint, available });
}

function pointer(name: string): string {
  return `/args/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;
}

type FindSkill = Pick<CallerSkills, "find">;

/**
 * Finds the skills on which a skill's manifest depends, each in the newest version that satisfies the range. Throws SKILL_NOT_READY if one
 * is missing or not visible.
 */
function dependenciesOf(skill: Skill, skills: FindSkill): readonly Skill[] {
  return (skill.manifest?.dependencies?.skills ?? []).map((text) => {
    const [name = text, range] = text.split("@");
    try {
      const { versions } = skills.find(name);
      const found = versions.find(({ version }) => range === undefined || satisfies(version, range));
      if (found !== undefined) return found;
    } catch (error) {
      if (!isSkillsError(error) || error.code !== "SKILL_NOT_FOUND") throw error;
    }
    const message = `The skill ${skill.name} depends on ${text}, which is not installed.`;
    const facts = { hint: `Install the skill ${name}.`, retryable: false };
    throw new SkillsError("SKILL_NOT_READY", message, { facts });
  });
}

/** A skill that another one's code can call, with the permissions it then has. */
export interface CalledSkill extends Capabilities {
  readonly skill: string;
}

/** Lists the skills with permissions that a skill's code can call, directly or through its dependencies. */
export function callsOf(skill: Skill, skills: FindSkill): readonly CalledSkill[] {
  const seen = new Set([skill]);
  for (const caller of seen) for (const called of presentDependenciesOf(caller, skills)) seen.add(called);
  seen.delete(skill);
  return [...seen].flatMap((called) => {
    const permissions = permissionsOf(called);
    return !isNothing(permissions) ? [{ skill: called.name, ...permissions }] : [];
  });
}

/** Lists the dependencies of a skill; none if one is missing, which prevents the run altogether. */
export function presentDependenciesOf(skill: Skill, skills: FindSkill): readonly Skill[] {
  try {
    return dependenciesOf(skill, skills);
  } catch (error) {
    if (isSkillsError(error, "SKILL_NOT_READY")) return [];
    throw error;
  }
}
