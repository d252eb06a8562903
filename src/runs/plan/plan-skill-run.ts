import { SkillsError } from "../../errors.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import type { Json, Program } from "../../sandbox/sandbox.ts";
import type { Skill } from "../../skills/skill.ts";
import { runInSlices } from "../../base/slices.ts";
import { invalidInput, shown } from "../../base/invalid-input.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import type { RunContext } from "../../tools/tool.ts";
import { walkSkill } from "../../skills/hash/walk-skill.ts";
import { checkArgs } from "./check-args.ts";
import type { Arguments } from "./check-args.ts";
import { dependenciesOf } from "./dependencies-of.ts";
import { neededBy } from "../authorize/check-grants.ts";
import { requirementsFile } from "../execute/prepare-run.ts";
import { checkDepth, findBlobs } from "./run-arguments.ts";
import { limitsOf } from "./run-limits.ts";
import type { RunPlan } from "./run-plan.ts";

export interface SkillRunRequest {
  readonly args?: Arguments | undefined;
  readonly inputBlobs?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  /** What is left of the run that this one is part of. */
  readonly leftMs?: number | undefined;
  readonly script?: string | undefined;
}

const tool = "execute_skill";

/** Checks a request to run a skill (CONTRACT C-5.2, C-5.6). Throws what is wrong with the request itself. */
export async function planSkillRun(context: RunContext, skill: Skill, request: SkillRunRequest): Promise<RunPlan> {
  const { args: given = {}, script } = request;
  checkDepth(tool, given);
  if (script !== undefined) return await planScript(context, skill, script, request);
  if (skill.kind === "instruction") throw notExecutable(skill);
  const { args, blobs } = checkArgs(tool, given, skill.manifest?.inputs);
  return await toPlan(
    context,
    skill,
    { type: "skill", skill: skill.name, args },
    {
      ...request,
      inputBlobs: [...(request.inputBlobs ?? []), ...blobs],
    },
  );
}

async function toPlan(context: RunContext, skill: Skill, program: Program, request: SkillRunRequest): Promise<RunPlan> {
  const { inputBlobs = [], timeoutMs, leftMs } = request;
  const args: Json = program.type === "script" ? program.argv : program.args;
  const blobs = await findBlobs(context, tool, inputBlobs, args);
  const dependencies = dependenciesOf(skill, context.skills);
  // What a skill depends on never runs with that skill's permissions.
  const isPlain = neededBy(permissionsOf(skill)).length === 0;
  const importable = splitByNeeds(context, dependencies);
  return {
    skill,
    program,
    mounted: [skill, ...(isPlain ? importable.mounted : [])],
    brokered: isPlain ? importable.brokered : dependencies,
    blobs,
    ...limitsOf({ timeoutMs, leftMs }, skill),
  };
}

/** Skills that other code can import as they are, and those that need a sandbox of their own (CONTRACT C-5.5). */
export function splitByNeeds(
  context: RunContext,
  skills: readonly Skill[],
): { readonly mounted: readonly Skill[]; readonly brokered: readonly Skill[] } {
  const mounted: Skill[] = [];
  const brokered: Skill[] = [];
  for (const skill of skills) {
    const isApart =
      neededBy(permissionsOf(skill)).length > 0 || hasRequirements(context, skill) || dependsOnOthers(skill);
    (skill.kind === "action" && isApart ? brokered : mounted).push(skill);
  }
  return { mounted, brokered };
}

function hasRequirements({ sourceOf }: RunContext, skill: Skill): boolean {
  const { files, bytes } = sourceOf(skill);
  const real = files.resolve(`${skill.directory}/${requirementsFile}`);
  return real !== undefined && bytes.stamp(real) !== undefined;
}

function dependsOnOthers({ manifest }: Skill): boolean {
  return (manifest?.dependencies?.skills ?? []).length > 0;
}

const languages: Readonly<Record<string, "python" | "bash" | "node">> = {
  py: "python",
  sh: "bash",
  js: "node",
  mjs: "node",
};

async function planScript(
  context: RunContext,
  skill: Skill,
  script: string,
  request: SkillRunRequest,
): Promise<RunPlan> {
  const { files } = context.sourceOf(skill);
  const walk = await runInSlices(walkSkill(files, skill.directory), { now: () => performance.now(), slice: 3 });
  const scripts = walk.files.map(({ path }) => path).filter(isScript);
  if (!scripts.includes(script)) {
    const available = nearest(script, scripts, asAvailable);
    const message = `The skill ${skill.name} has no script ${JSON.stringify(script.slice(0, 512))} that can be run.`;
    const hint = scripts.length === 0 ? "It has no scripts." : "describe_skill lists them.";
    throw new SkillsError("FILE_NOT_FOUND", message, { facts: { available, hint } });
  }
  const { argv, stdin } = scriptArguments(request.args ?? {});
  const language = languages[script.slice(script.lastIndexOf(".") + 1)] ?? "bash";
  const program: Program = {
    type: "script",
    skill: skill.name,
    file: script,
    language,
    argv,
    ...(stdin !== undefined && { stdin }),
  };
  return await toPlan(context, skill, program, request);
}

/** A file under `scripts/` in a language that runs. */
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
  const hint = `Call describe_skill with name ${JSON.stringify(name)} and detail "full" and follow what it says; a file under scripts/ runs with the parameter script.`;
  return new SkillsError("NOT_EXECUTABLE", `The skill ${name} is an instruction: it is to be read, not executed.`, {
    facts: { hint },
  });
}
