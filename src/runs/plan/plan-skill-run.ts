import { asAvailable, nearest } from "../../base/nearest.ts";
import { invalidInput, shown } from "../../base/invalid-input.ts";
import { runInSlices } from "../../base/slices.ts";
import { SkillsError } from "../../errors.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import { walkSkill } from "../../skills/hash/walk-skill.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import type { Skill } from "../../skills/skill.ts";
import { neededBy } from "../authorize/authorize.ts";
import type { RunSpec } from "../run-spec.ts";
import { dependenciesOf } from "./dependencies.ts";
import { splitByNeeds, toSpec } from "./plan-run.ts";
import type { Planning, RequestedLimits } from "./plan-run.ts";
import { checkArgs, checkDepth } from "./run-arguments.ts";
import type { Arguments } from "./run-arguments.ts";

export interface SkillRunRequest extends RequestedLimits {
  /** Canonical name or slug. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly args?: Arguments | undefined;
  readonly script?: string | undefined;
}

const tool = "execute_skill";

/** Checks a request to run a skill (CONTRACT C-5.2, C-5.6). Throws what is wrong with the request itself. */
export async function planSkillRun(planning: Planning, request: SkillRunRequest): Promise<RunSpec> {
  const { caller } = planning;
  const { name, version, args: given = {}, script } = request;
  const { skill } = caller.skills.find(name, version);
  checkDepth(tool, given);
  if (script === undefined && skill.kind === "instruction") throw notExecutable(skill);
  const { program, blobs } =
    script === undefined ? entrypointOf(skill, given) : await scriptOf(planning, skill, script, given);
  const dependencies = dependenciesOf(skill, caller.skills);
  // A skill's dependencies never run with that skill's permissions.
  const isPlain = neededBy(permissionsOf(skill)).length === 0;
  const importable = splitByNeeds(caller, dependencies);
  return await toSpec(planning, program, {
    skill,
    mounted: [skill, ...(isPlain ? importable.mounted : [])],
    brokered: isPlain ? importable.brokered : dependencies,
    request: { ...request, inputBlobs: [...(request.inputBlobs ?? []), ...blobs] },
    tool,
  });
}

interface Call {
  readonly program: RunSpec["program"];
  /** Ids of blobs that its arguments name. */
  readonly blobs: readonly string[];
}

function entrypointOf({ name, manifest }: Skill, given: Arguments): Call {
  const { args, blobs } = checkArgs(tool, given, manifest?.inputs);
  return { program: { type: "skill", skill: name, args }, blobs };
}

const languages: Readonly<Record<string, "python" | "bash" | "node">> = {
  py: "python",
  sh: "bash",
  js: "node",
  mjs: "node",
};

async function scriptOf({ caller }: Planning, skill: Skill, file: string, given: Arguments): Promise<Call> {
  const { files } = caller.sourceOf(skill);
  const walk = await runInSlices(walkSkill(files, skill.directory), { now: () => performance.now(), slice: 3 });
  const scripts = walk.files.map(({ path }) => path).filter(isScript);
  if (!scripts.includes(file)) {
    const available = nearest(file, scripts, asAvailable);
    const message = `The skill ${skill.name} has no script ${JSON.stringify(file.slice(0, 512))} that can be run.`;
    const hint = scripts.length === 0 ? "It has no scripts." : "describe_skill lists them.";
    throw new SkillsError("FILE_NOT_FOUND", message, { facts: { available, hint } });
  }
  const language = languages[file.slice(file.lastIndexOf(".") + 1)] ?? "bash";
  return { program: { type: "script", skill: skill.name, file, language, ...scriptArguments(given) }, blobs: [] };
}

/** A file under `scripts/` in a supported language. */
export function isScript(path: string): boolean {
  return /^scripts\/.+\.(?:py|sh|js|mjs)$/.test(path);
}

const maxArgv = 256;
const scriptInputs = { argv: { type: "array" }, stdin: { type: "string" } } as const;

/** A script takes its arguments as text. */
function scriptArguments(given: Arguments): { readonly argv: readonly string[]; readonly stdin?: string } {
  const { argv = [], stdin } = checkArgs(tool, given, scriptInputs).args as { argv?: Json[]; stdin?: string };
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
