import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { attempt } from "../../../base/failures/system-error.ts";
import {
  type Capabilities,
  covers,
  fromUse,
  listed,
  noCapabilities,
  permissionsOf,
  secretHeaderOf,
} from "../../../skills/permissions.ts";
import { directoryIdentityOf, directoryReplaced, isSameDirectory } from "../../../base/paths/identity.ts";
import { isWithin } from "../../../base/paths/location.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { Invocation, InvocationEnd } from "../../../sources/invoke.ts";
import type {
  MountedFile,
  MountedSkill,
  RunEnd,
  RunHost,
  RunNeeds,
  Sandbox,
  SandboxProject,
  SandboxRun,
} from "../../sandbox.ts";
import type { SkillSource } from "../../../skills/files.ts";
import { type Skill, requirementsFile } from "../../../skills/skill.ts";
import { type PlannedMount, findMount, readPlannedFile, skillChanged } from "../plan/plan-run.ts";
import type { RunCaller, SkillSources } from "../run-caller.ts";
import type { RunSpec } from "../run-spec.ts";
import type { RanProgram } from "../record.ts";
import type { OpenRequests, SentSecret } from "./secret-requests.ts";

/** The services that runs need besides a spec and a caller. */
export interface RunEnvironment {
  /** Opens the sandbox. Throws SANDBOX_UNAVAILABLE if no tier is available. */
  readonly sandbox: () => Promise<Sandbox>;
  /** Opens the tier without isolation: code has all rights of the user, who must allow that per skill. Throws SANDBOX_UNAVAILABLE. */
  readonly withoutSandbox: () => Promise<Sandbox>;
  /** Reads the value of a secret for one skill; undefined if none is configured or it cannot be read. */
  readonly readSecret: (name: string, skill: string) => Promise<string | undefined>;
  /** Why a directory cannot be a run's project; undefined if it can. */
  readonly refuseProject: (directory: string) => string | undefined;
  /** Finds the packages that a skill's requirements file asks for; undefined if they are not installed. */
  readonly findPackages: (skill: Skill, requirements: Uint8Array) => Promise<InstalledPackages | undefined>;
  /** Opens the fetcher that sends secrets for a run whose code cannot read them. */
  readonly openRequests: OpenRequests;
  /** Invokes a skill on another machine; rejects only with the reason of `signal`. */
  readonly invoke: (invocation: Invocation, signal: AbortSignal) => Promise<InvocationEnd>;
}

/** Finds the installed packages of a skill. */
export type PackageFinder = Pick<RunEnvironment, "findPackages">;

export interface InstalledPackages {
  readonly directory: string;
  /** `sha256:…` of the installed packages. */
  readonly digest: string;
}

/** An authorized run that can start here or on another machine: everything that its spec only names is resolved. */
export interface PreparedRun {
  /** The isolation of the run: a tier, or `remote`. */
  readonly isolation: string;
  readonly run: RanProgram & Pick<SandboxRun, "secrets">;
  readonly packages?: InstalledPackages | undefined;
  /** The secrets that are sent for the run, whose code cannot read them. */
  readonly sent?: readonly SentSecret[];
  /** Executes the run. Throws only internal failures and the reason of `signal`. */
  readonly execute: (host: RunHost, signal: AbortSignal) => Promise<RunEnd>;
}

/**
 * Resolves the secrets, files, project and sandbox of an authorized run. Throws SECRET_MISSING, SKILL_NOT_READY, PERMISSION_DENIED or
 * SANDBOX_UNAVAILABLE.
 */
export async function prepareSandboxRun(
  spec: RunSpec,
  caller: RunCaller,
  environment: RunEnvironment,
  signal: AbortSignal,
): Promise<PreparedRun> {
  const { program } = spec;
  if (program.type === "remote") throw new Error("A skill that another machine offers runs in no sandbox.");
  const project = mountedProjectOf(spec, caller, environment);
  const values = await readSecrets(spec, caller, environment);
  const { uses = [] } = spec.needs;
  const mounts: PlannedMount[] = [];
  for (const mount of spec.mounts) mounts.push(await findMount(mount, caller, signal));
  const skills = mounts.map((mount) => toMountedSkill(caller.sourceOf(mount.skill), mount));
  const own = spec.mounts.findIndex(({ slug }) => slug === spec.skill?.slug);
  // The approval is for what the skill of this digest requests.
  const skill = mounts[own]?.skill;
  const declared = skill && permissionsOf(skill);
  const requested = declared?.isolation;
  const isDeclared = covers(
    { ...noCapabilities, ...(declared?.uses && { uses: declared.uses }) },
    { ...noCapabilities, uses },
  );
  if (spec.needs.isolation !== requested || !isDeclared) throw skillChanged(spec.skill?.name ?? "");
  const isOutside = requested === "none";
  const packages = await findPackages(mounts[own], caller, environment);
  const run: SandboxRun = {
    runId: spec.runId,
    program,
    skills,
    brokered: spec.brokered.map(({ name }) => name),
    blobs: spec.blobs.map(({ id, kind, size }) => ({
      id,
      kind,
      size,
      read: () => caller.blobs.read(caller.owner, id),
    })),
    secrets: Object.fromEntries(spec.needs.secrets.map((name) => [name, values[name] ?? ""])),
    ...(uses.length > 0 && { uses }),
    network: spec.needs.network,
    limits: spec.limits,
    ...(project !== undefined && { project }),
    ...(packages !== undefined && { packages: packages.directory }),
    ...(isOutside && { isolation: "none" }),
  };
  const sandbox = await (isOutside ? environment.withoutSandbox() : environment.sandbox());
  expectSupport(sandbox, run);
  return {
    isolation: sandbox.tier,
    run,
    packages,
    ...(skill && { sent: sentSecrets(uses, skill, values) }),
    execute: (host, whileRunning) => sandbox.run(run, host, whileRunning),
  };
}

/**
 * Throws SANDBOX_UNAVAILABLE if no answer of the user could make the program run here; called before the user is asked. Checks nothing but
 * the sandbox of this machine.
 */
export async function checkSupport(
  program: RunSpec["program"],
  { network, uses = [], project, isolation }: Capabilities,
  { project: directory }: Pick<RunCaller, "project">,
  { sandbox }: Pick<RunEnvironment, "sandbox">,
): Promise<void> {
  if (program.type === "remote" || isolation !== undefined) return;
  const mounted =
    directory === undefined || project === "none" ? undefined : { directory, writable: project === "write" };
  expectSupport(await sandbox(), { program, network, uses, ...(mounted && { project: mounted }) });
}

function expectSupport(sandbox: Sandbox, run: RunNeeds): void {
  const refusal = sandbox.refuses(run);
  if (refusal === undefined) return;
  const remedy = Object.values(sandbox.lacks).includes(refusal) ? sandbox.remedy : undefined;
  const hint = remedy ?? "acp-skills doctor reports what this machine supports.";
  throw new SkillsError("SANDBOX_UNAVAILABLE", refusal, { facts: { hint } });
}

/** Lists the secrets of `uses`, each with its hosts and the header that its skill names. */
function sentSecrets(uses: readonly string[], skill: Skill, values: Readonly<Record<string, string>>): SentSecret[] {
  const parts = uses.map(fromUse);
  return [...new Set(parts.map(({ name }) => name))].map((name) => ({
    ...secretHeaderOf(skill, name),
    name,
    value: values[name] ?? "",
    hosts: parts.filter((part) => part.name === name).map(({ host }) => host),
  }));
}

/** Reads the secrets that a run needs. Throws SECRET_MISSING, also for a secret that this caller may not use. */
export async function readSecrets(
  { skill, needs }: Pick<RunSpec, "skill" | "needs">,
  { secrets: allowed }: Pick<RunCaller, "secrets">,
  { readSecret }: Pick<RunEnvironment, "readSecret">,
): Promise<Record<string, string>> {
  if (skill === undefined) return {};
  const secrets: [string, string][] = [];
  const missing: string[] = [];
  const used = (needs.uses ?? []).map((use) => fromUse(use).name);
  for (const name of new Set([...needs.secrets, ...used])) {
    const value = allowed?.includes(name) === false ? undefined : await readSecret(name, skill.name);
    if (value === undefined) missing.push(name);
    else secrets.push([name, value]);
  }
  if (missing.length === 0) return Object.fromEntries(secrets);
  const hint =
    "The user can set it in the environment, in the file given by --secrets-file, or in the system keychain.";
  const message = `The skill ${skill.name} needs ${listed(missing)}, which ${missing.length === 1 ? "is" : "are"} not configured.`;
  throw new SkillsError("SECRET_MISSING", message, { facts: { hint } });
}

/** Offers a skill's files to the sandbox, which copies them. Each is hashed while it is read, and must be the file that was planned. */
export function toMountedSkill(source: SkillSource, { skill, files }: PlannedMount): MountedSkill {
  const { name, directory, manifest } = skill;
  const mounted = files.map((file): MountedFile => ({
    path: file.path,
    size: file.size_bytes,
    // eslint-disable-next-line @typescript-eslint/require-await
    async *read() {
      const content = readPlannedFile(source, directory, file);
      if (content === undefined) throw skillChanged(name, file.path);
      yield content;
    },
  }));
  const { runtime } = manifest ?? {};
  if (runtime === undefined) return { name, files: mounted };
  const entry = { file: runtime.entrypoint, export: runtime.export };
  if (files.some(({ path }) => path === entry.file)) return { name, files: mounted, entry };
  throw new SkillsError("SKILL_NOT_READY", `The entrypoint ${entry.file} of the skill ${name} does not exist.`, {
    facts: { hint: "Report this to its author.", retryable: false },
  });
}

/** Finds the packages of a skill; undefined if it asks for none. Throws SKILL_NOT_READY if they are not installed. */
export async function findPackages(
  mount: PlannedMount | undefined,
  { sourceOf }: SkillSources,
  environment: PackageFinder,
): Promise<InstalledPackages | undefined> {
  const file = mount?.files.find(({ path }) => path === requirementsFile);
  if (mount === undefined || file === undefined) return undefined;
  const { skill } = mount;
  const requirements = readPlannedFile(sourceOf(skill), skill.directory, file);
  if (requirements === undefined) throw skillChanged(skill.name, file.path);
  const packages = await environment.findPackages(skill, requirements);
  if (packages !== undefined) return packages;
  const facts = { hint: `The user can install them with: acp-skills install ${skill.name}`, retryable: false };
  throw new SkillsError("SKILL_NOT_READY", `The packages of the skill ${skill.name} are not installed.`, { facts });
}

type ProjectCaller = Pick<RunCaller, "project" | "projectIdentity"> & {
  readonly skills: Pick<RunCaller["skills"], "ownDirectories">;
};

/**
 * Returns the project that a run mounts: the session's directory, which must still be the one that the session opened. Undefined if the
 * run needs none. No run may change the user's own skills, because grants are for them. Inside the project they are read-only; a project
 * inside of them is not writable. Throws PERMISSION_DENIED.
 */
export function mountedProjectOf(
  { skill, needs }: Pick<RunSpec, "skill" | "needs">,
  caller: ProjectCaller,
  { refuseProject }: Pick<RunEnvironment, "refuseProject">,
): SandboxProject | undefined {
  if (skill === undefined || needs.project === "none") return undefined;
  const { name } = skill;
  const { project: directory, projectIdentity } = caller;
  if (directory === undefined)
    throw denied(
      `The skill ${name} needs a project, and this call has none.`,
      "Call it in a session with a directory.",
    );
  const refusal = refuseProject(directory);
  const other = "The user can open the session in a subdirectory, or set ACP_SKILLS_HOME to another directory.";
  if (refusal !== undefined) throw denied(refusal, other);
  const root = realPathOf(directory);
  const identity = directoryIdentityOf(root);
  if (projectIdentity !== undefined && !isSameDirectory(identity, projectIdentity)) throw directoryReplaced(directory);
  const project = { directory, writable: needs.project === "write", identity };
  if (!project.writable) return project;
  // The paths as they are spelled, too: a run could replace a link by something that it does not lead to.
  const directories = [...new Set(caller.skills.ownDirectories().flatMap((owned) => [owned, realPathOf(owned)]))];
  const around = directories.find((owned) => isWithin(root, owned));
  if (around !== undefined)
    throw denied(
      `The skill ${name} may write to the project, and the project is inside ${around}, which holds the user's own skills.`,
      "The user can open the session in another directory, or name directories inside of it with --skills.",
    );
  const inside = (owned: string): string[] =>
    [root, directory].filter((top) => isWithin(owned, top)).map((top) => relative(top, owned).split(sep).join("/"));
  const protectedPaths = [...new Set(directories.flatMap(inside))];
  const isBelow = (one: string): boolean => protectedPaths.some((other) => one.startsWith(`${other}/`));
  return { ...project, readOnly: protectedPaths.filter((one) => !isBelow(one)) };
}

function denied(message: string, hint: string): SkillsError {
  return new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
}

/** Returns the real path, or the path itself if that fails: the code that uses it reports why. */
function realPathOf(path: string): string {
  return attempt(() => realpathSync(path), path);
}
