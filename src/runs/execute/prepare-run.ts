import { SkillsError } from "../../errors.ts";
import type { MountedBlob, MountedSkill, Sandbox, SandboxRun } from "../../sandbox/sandbox.ts";
import type { Permissions } from "../../skills/manifest/metadata-permissions.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Grants } from "../../trust/grants.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import { checkGrants } from "../authorize/check-grants.ts";
import { openProject } from "./open-project.ts";
import { mountSkill } from "./mount-skill.ts";
import { maxMountedBytes } from "../plan/run-limits.ts";
import type { RunPlan } from "../plan/run-plan.ts";
import type { RunCaller } from "../runs.ts";

/** What runs are made of, besides what a caller asks for. */
export interface RunMeans {
  /** Throws SANDBOX_UNAVAILABLE where nothing isolates. */
  readonly sandbox: () => Promise<Sandbox>;
  readonly grants: Grants;
  /** The value of a secret, for one skill; undefined where none is configured, or where it cannot be looked up. */
  readonly readSecret: (name: string, skill: string) => Promise<string | undefined>;
  /** Why no run may have a directory for its project; undefined where one may. */
  readonly refuseProject: (directory: string) => string | undefined;
  /** Where the packages are that a skill's requirements file asks for; undefined where they were not installed. */
  readonly findPackages: (skill: Skill, requirements: Uint8Array) => Promise<string | undefined>;
}

/** The file whose packages `acp-skills install` builds. */
export const requirementsFile = "code/requirements.txt";

/** Checks everything that is checked before a run starts, and puts the run together (CONTRACT C-5.2). */
export async function prepareRun(
  plan: RunPlan,
  caller: RunCaller,
  means: RunMeans,
  runId: string,
): Promise<{ readonly sandbox: Sandbox; readonly run: SandboxRun }> {
  const { skill, program, limits, brokered } = plan;
  const permissions = skill === undefined ? undefined : permissionsOf(skill);
  if (skill && permissions) checkGrants(skill, permissions, { grants: means.grants, isOwn: caller.isOwn(skill) });
  const project = projectOf(skill, permissions, caller, means);
  const secrets = skill && permissions ? await readSecrets(skill, permissions.secrets, means) : {};
  const skills = await mountAll(plan.mounted, caller);
  const packages = skill && (await findPackages(skill, skills, means));
  const run: SandboxRun = {
    runId,
    program,
    skills,
    brokered: brokered.map(({ name }) => name),
    blobs: plan.blobs.map(({ id, kind, size }): MountedBlob => ({
      id,
      kind,
      size,
      read: () => caller.blobs.read(caller.owner, id),
    })),
    secrets,
    network: permissions?.network ?? [],
    limits,
    ...(project !== undefined && { project }),
    ...(packages !== undefined && { packages }),
  };
  const sandbox = await means.sandbox();
  const refusal = sandbox.refuses(run);
  if (refusal !== undefined) {
    const hint = "acp-skills doctor tells what this machine can do.";
    throw new SkillsError("SANDBOX_UNAVAILABLE", refusal, { facts: { hint } });
  }
  return { sandbox, run };
}

function projectOf(
  skill: Skill | undefined,
  permissions: Permissions | undefined,
  caller: RunCaller,
  { refuseProject }: RunMeans,
): SandboxRun["project"] {
  if (skill === undefined || permissions === undefined || permissions.project === "none") return undefined;
  const { project } = caller;
  if (project === undefined) {
    const message = `The skill ${skill.name} works on a project, and this call belongs to none.`;
    const hint = "Call it in a session that has a directory.";
    throw new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
  }
  const refusal = refuseProject(project);
  if (refusal !== undefined) {
    const hint = "A person can open the session in a smaller directory, or keep that elsewhere with ACP_SKILLS_HOME.";
    throw new SkillsError("PERMISSION_DENIED", refusal, { facts: { hint } });
  }
  return openProject(skill, project, { ...caller, writable: permissions.project === "write" });
}

async function readSecrets(
  { name: skill }: Skill,
  names: readonly string[],
  { readSecret }: RunMeans,
): Promise<Record<string, string>> {
  const secrets: [string, string][] = [];
  const missing: string[] = [];
  for (const name of names) {
    const value = await readSecret(name, skill);
    if (value === undefined) missing.push(name);
    else secrets.push([name, value]);
  }
  if (missing.length === 0) return Object.fromEntries(secrets);
  const hint =
    "A person can set it in the environment, in the file that --secrets-file names, or in the system's keychain.";
  throw new SkillsError("SECRET_MISSING", `The skill ${skill} needs ${missing.join(", ")}, which is not configured.`, {
    facts: { hint },
  });
}

async function mountAll(skills: readonly Skill[], { sourceOf }: RunCaller): Promise<MountedSkill[]> {
  const mounted: MountedSkill[] = [];
  let room = maxMountedBytes;
  for (const skill of skills) {
    const mount = await mountSkill(sourceOf(skill), skill, room);
    room -= mount.files.reduce((sum, { size }) => sum + size, 0);
    mounted.push(mount);
  }
  return mounted;
}

async function findPackages(
  skill: Skill,
  mounted: readonly MountedSkill[],
  means: RunMeans,
): Promise<string | undefined> {
  const { name } = skill;
  const file = mounted.find((mount) => mount.name === name)?.files.find(({ path }) => path === requirementsFile);
  if (file === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.read()) chunks.push(chunk);
  const directory = await means.findPackages(skill, Buffer.concat(chunks));
  if (directory !== undefined) return directory;
  const message = `The packages of the skill ${name} are not installed.`;
  throw new SkillsError("SKILL_NOT_READY", message, {
    facts: { hint: `A person can install them with: acp-skills install ${name}`, retryable: false },
  });
}
