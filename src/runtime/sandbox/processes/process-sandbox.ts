import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Log } from "../../../base/log.ts";
import { guardedAtTop, guardedEverywhere } from "../../../base/paths/guarded-names.ts";
import { liesIn } from "../../../base/paths/location.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type HostDirectory, showPackages } from "../directory/host-directory.ts";
import {
  type PrivateDirectory,
  type SandboxUser,
  chooseUser,
  layFiles,
  makePrivateDirectory,
  ownRootNames,
  ownRoots,
  removeTree,
} from "../directory/private-directory.ts";
import { type SandboxProcess, driveRun, supervisorGraceMs } from "../drive/drive-run.ts";
import { type Egress, type TierOptions, type WarmPool, closableSandbox, openWarmPool } from "../drive/sandbox-life.ts";
import { endpointPath, openSecretEndpoint } from "../egress-proxy/secret-endpoint.ts";
import type { Python } from "../find.ts";
import type { Json, RunEnd, RunHost, RunNeeds, Sandbox, SandboxProject, SandboxRun, Tier } from "../../sandbox.ts";
import { type Cgroup, CgroupParent, type CgroupSystem, findCgroups } from "./cgroups.ts";
import { type SandboxCommand, startSandboxProcess } from "./start-sandbox-process.ts";

/** The properties of a run that its sandbox is started with. Runs of the same shape can use the same prepared sandboxes. */
interface Shape {
  readonly diskBytes: number;
  readonly network: boolean;
  readonly project: SandboxRun["project"];
  readonly packages: string | undefined;
  /** Whether it has the programs that scripts use; other runs get Python alone. */
  readonly tools: boolean;
}

/** A tier that turns processes into sandboxes. */
export interface ProcessTier {
  /** Landlock has no file system of its own, and no pid namespace. */
  readonly tier: "bubblewrap" | "landlock";
  readonly lacks: Sandbox["lacks"];
  refuses?(user: SandboxUser): string | undefined;
  command(
    directory: PrivateDirectory,
    shape: Shape,
    flags: readonly string[],
    user: SandboxUser,
  ): Pick<SandboxCommand, "file" | "arguments"> & Partial<Pick<SandboxCommand, "user">>;
}

/** The command line of the supervisor, whose files are in `inside`. `walls`: the paths that Landlock allows, for `confine.py`. */
export function supervisorCommand(
  { executable }: Pick<Python, "executable">,
  inside: string,
  tier: Tier,
  walls: Json,
  flags: readonly string[],
): string[] {
  return [executable, "-I", "-S", "-B", "-c", launch, inside, tier, JSON.stringify(walls), ...flags];
}

/** The settings of a project for `confine.py`. The project is at `path` inside the sandbox. */
export function wallsOfProject(
  path: string,
  { writable, identity, readOnly = [] }: SandboxProject,
): { readonly [key: string]: Json } {
  const names = { everywhere: guardedEverywhere, top: guardedAtTop };
  const guarded = { path, ...names, read_only: readOnly, directories: guardedDirectories };
  return { project: { path, ...identity }, ...(writable && { guarded }) };
}

/** Maximum number of directories of a writable project that are scanned before the run; the rest stays read-only. */
const guardedDirectories = 20_000;

const launch = "import sys; sys.path.insert(0, sys.argv.pop(1)); import supervisor; supervisor.main()";

export interface ProcessSandboxOptions extends Omit<TierOptions, "python"> {
  readonly host: HostDirectory;
  readonly cgroups?: CgroupSystem;
}

/** A sandbox that was started, and waits for its one run. */
interface Prepared {
  readonly sandbox: SandboxProcess;
  readonly directory: PrivateDirectory;
  readonly shape: Shape;
  readonly cgroup: Cgroup | undefined;
  alive: boolean;
}

export function openProcessSandbox(tier: ProcessTier, options: ProcessSandboxOptions): Sandbox {
  return closableSandbox(new ProcessSandboxes(tier, options));
}

/** Prepares sandboxes, each for one run, and removes them afterwards. */
class ProcessSandboxes implements Sandbox {
  readonly tier: Tier;
  readonly lacks;
  readonly #tier: ProcessTier;
  readonly #isAlone: boolean;
  readonly #options: ProcessSandboxOptions;
  readonly #packagesFor: ReturnType<typeof showPackages>;
  readonly #pool: WarmPool<Prepared>;
  readonly #removing = new Set<Promise<void>>();
  /** Absent if cgroups are unavailable or creating one has failed. */
  #cgroups: CgroupParent | undefined;
  #created = 0;
  /** Prepared sandboxes have the shape of the last run that could use one. */
  #pooledShape: Shape = { diskBytes: 0, network: false, project: undefined, packages: undefined, tools: false };

  constructor(tier: ProcessTier, options: ProcessSandboxOptions) {
    const { host, pool, clock, log } = options;
    this.tier = tier.tier;
    this.lacks = tier.lacks;
    this.#tier = tier;
    this.#isAlone = tier.tier === "landlock";
    this.#options = options;
    this.#packagesFor = showPackages(host);
    this.#pool = openWarmPool<Prepared>({
      ...pool,
      clock,
      make: (warm) => this.#start(this.#pooledShape, warm),
      isAlive: ({ alive, shape: { diskBytes, tools } }) =>
        alive && diskBytes === this.#pooledShape.diskBytes && tools === this.#pooledShape.tools,
      discard: async (prepared) => {
        await this.#kill(prepared);
        await this.#remove(prepared);
      },
      failed: (error) => log("warning", `Preparing a sandbox failed: ${String(error)}`),
    });
    const found = findCgroups(options.cgroups);
    this.#withCgroups(() => {
      if ("reason" in found) throw new Error(found.reason);
      this.#cgroups = new CgroupParent(found.parent, options.cgroups);
    });
  }

  refuses(run: RunNeeds): string | undefined {
    const { egress, host } = this.#options;
    if (run.network.length > 0 && egress === undefined)
      return "Network access is not available: no proxy is configured.";
    // Code that can write to the host directory could change what every sandbox starts with.
    if (run.project !== undefined && liesIn(host.path, run.project.directory))
      return `${run.project.directory} cannot be the project: sandboxes are created inside it.`;
    const user = chooseUser(run.project);
    return "refusal" in user ? user.refusal : this.#tier.refuses?.(user);
  }

  async run(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd> {
    const { egress, clock, log } = this.#options;
    const prepared = await this.#take(run);
    const { sandbox, directory, shape, cgroup } = prepared;
    const { listener } = sandbox;
    let proxy: ReturnType<Egress> | undefined;
    let hasEnded = false;
    const over = new AbortController();
    const { uses = [] } = run;
    const endpoint = host.fetch && openSecretEndpoint(host.fetch, uses, over.signal);
    try {
      const hidingLog: Log = (level, message) => log(level, host.hide(message));
      proxy = listener === undefined ? undefined : egress?.(listener.server, run.network, hidingLog, endpoint);
      await layFiles(directory, run.skills, run.blobs);
      if (signal.aborted) return { type: "cancelled" };
      cgroup?.limit(run.limits);
      const roots = this.#isAlone ? ownRoots(directory, shape) : undefined;
      const environment = {
        roots,
        proxyPort: run.network.length > 0 ? listener?.port : undefined,
        endpoint: endpoint && listener && `http://127.0.0.1:${listener.port}${endpointPath}`,
      };
      const end = await driveRun(sandbox, run, environment, host, signal, { clock, log });
      hasEnded = true;
      const byHost = end.type === "cancelled" || end.type === "limit";
      return !byHost && cgroup?.ranOutOfMemory() === true ? { type: "limit", limit: "memory" } : end;
    } finally {
      over.abort(new Error("The run is over."));
      try {
        await proxy?.close();
      } finally {
        if (!hasEnded) await this.#kill(prepared);
        this.#removeLater(prepared);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#removing);
    await this.#pool.close();
    this.#cgroups?.close();
    await removeTree(this.#options.host.path);
  }

  async #take(run: SandboxRun): Promise<Prepared> {
    const { network, project, limits } = run;
    const packages = run.packages && (await this.#packagesFor(run.packages));
    const tools = run.program.type === "script";
    // Scripts that run no code of acp-skills reach their host over the listener.
    const isServed = this.#options.egress !== undefined && this.lacks["network access"] === undefined;
    const listens = network.length > 0 || (tools && isServed && (run.uses ?? []).length > 0);
    const shape = { diskBytes: limits.diskBytes, network: listens, project, packages, tools };
    if (shape.network || project !== undefined || packages !== undefined) return this.#start(shape, false);
    this.#pooledShape = shape;
    return this.#pool.take();
  }

  async #start(shape: Shape, warm: boolean): Promise<Prepared> {
    const { host, clock } = this.#options;
    const user = chooseUser(shape.project);
    if ("refusal" in user) throw new SkillsError("SANDBOX_UNAVAILABLE", user.refusal);
    const writable = this.#isAlone ? ownRootNames : [];
    const directory = makePrivateDirectory(join(host.path, `s${++this.#created}`), user.id, writable);
    try {
      const flags = [shape.network && "network", shape.project && "project", warm && "warm"].filter(
        (flag) => typeof flag === "string",
      );
      const sandbox = await startSandboxProcess(
        {
          user: user.id,
          ...this.#tier.command(directory, shape, flags, user),
          network: shape.network,
          alone: this.#isAlone,
        },
        clock,
      );
      const { pid } = sandbox;
      const cgroup = pid === undefined ? undefined : this.#withCgroups(() => this.#cgroups?.open(pid));
      const prepared: Prepared = { sandbox, directory, shape, cgroup, alive: true };
      void sandbox.exited.then(() => (prepared.alive = false));
      return prepared;
    } catch (error) {
      await directory.remove();
      throw error;
    }
  }

  /** Uses cgroups, which limit memory that nothing else counts. A run does not fail without one. */
  #withCgroups<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch (error) {
      this.#cgroups = undefined;
      this.#options.log("info", `Runs have no cgroup: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  async #kill({ sandbox }: Prepared): Promise<void> {
    sandbox.keepAlive(true);
    sandbox.kill();
    await sandbox.exited;
  }

  /** Removes a sandbox after the result was returned, so that no result waits for the kernel or a disk. */
  #removeLater(used: Prepared): void {
    const removed = setImmediate()
      .then(() => {
        this.#pool.refill();
        return this.#remove(used);
      })
      .catch((error: unknown) =>
        this.#options.log("warning", `${used.directory.path} could not be removed: ${String(error)}`),
      )
      .finally(() => this.#removing.delete(removed));
    this.#removing.add(removed);
  }

  /** Waits until a sandbox's processes are dead, killing them if necessary, then removes its files and its cgroup. */
  async #remove({ sandbox, directory, cgroup }: Prepared): Promise<void> {
    const cancel = this.#options.clock.after(supervisorGraceMs, () => sandbox.kill());
    await sandbox.exited;
    cancel();
    sandbox.release();
    sandbox.listener?.server.close();
    cgroup?.remove();
    await directory.remove();
  }
}
