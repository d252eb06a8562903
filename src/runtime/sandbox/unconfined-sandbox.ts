import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { directoryReplaced, directoryIdentityOf, isSameDirectory } from "../../base/paths/directory-identity.ts";
import { type HostDirectory, makeHostDirectory, sweepLeftovers } from "./directory/host-directory.ts";
import { missingOwnFiles } from "./directory/own-files.ts";
import {
  type PrivateDirectory,
  layFiles,
  makePrivateDirectory,
  ownRootNames,
  ownRoots,
  removeTree,
} from "./directory/private-directory.ts";
import { type Outside, type Roots, type SandboxProcess, driveRun, supervisorGraceMs } from "./drive/drive-run.ts";
import { type TierOptions, closableSandbox } from "./drive/sandbox-life.ts";
import { type Python, findCommand, findPython } from "./find.ts";
import { startSandboxProcess } from "./processes/start-sandbox-process.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";

type Options = Pick<TierOptions, "python" | "temporaryDirectory" | "clock" | "log">;

/**
 * Opens the tier "none", which isolates nothing: code has all rights of the user. It runs only what a person has allowed to leave the
 * sandbox, and is never a replacement for another tier. Time, printed bytes, the result, memory, processes and the run's own
 * directories are limited as usual, and its processes are killed at the end; code can evade that if it wants to.
 */
export async function openUnconfinedSandbox(options: Options): Promise<Sandbox | Explanation> {
  const { log, temporaryDirectory = tmpdir() } = options;
  if (process.platform === "win32") return { reason: onWindows, fix: [] };
  const missing = missingOwnFiles();
  if (missing !== undefined) return { reason: missing, fix: [] };
  await sweepLeftovers(log, temporaryDirectory);
  const python = await findPython(options.python);
  if ("reason" in python) return { ...python, fix: [] };
  const host = await makeHostDirectory(python, temporaryDirectory);
  const bash = findCommand("bash", ["/bin", "/usr/bin"]) ?? null;
  return closableSandbox(new UnconfinedSandbox(options, python, host, { bash, node: process.execPath }));
}

const onWindows =
  "Code cannot run without a sandbox on Windows, because the processes that it starts could not be ended reliably.";

class UnconfinedSandbox implements Sandbox {
  readonly tier = "none";
  readonly lacks;
  readonly #options: Options;
  readonly #python: Python;
  readonly #host: HostDirectory;
  readonly #interpreters: Outside["interpreters"];
  #created = 0;

  constructor(options: Options, python: Python, host: HostDirectory, interpreters: Outside["interpreters"]) {
    this.#options = options;
    this.#python = python;
    this.#host = host;
    this.#interpreters = interpreters;
    this.lacks = interpreters.bash === null ? { "scripts in bash": "bash is not installed." } : {};
  }

  refuses(): undefined {
    return undefined;
  }

  async run(...[run, host, signal]: Parameters<Sandbox["run"]>): ReturnType<Sandbox["run"]> {
    const { project } = run;
    if (project?.identity !== undefined && !isSameDirectory(directoryIdentityOf(project.directory), project.identity))
      throw directoryReplaced(project.directory);
    const directory = makePrivateDirectory(join(this.#host.path, `s${++this.#created}`), undefined, ownRootNames);
    let started: SandboxProcess | undefined;
    try {
      await layFiles(directory, run.skills, run.blobs);
      if (signal.aborted) return { type: "cancelled" };
      const roots = ownRoots(directory, run);
      const outside = { environment: environmentOf(roots, process.env), interpreters: this.#interpreters };
      started = await this.#start();
      return await driveRun(started, run, { roots, outside }, host, signal, this.#options);
    } finally {
      await this.#remove(directory, started);
    }
  }

  async close(): Promise<void> {
    await removeTree(this.#host.path);
  }

  async #start(): Promise<SandboxProcess> {
    const launched = [this.#python.executable, "-I", "-S", "-B", "-c", launch, this.#host.inside];
    const [file = "", ...given] = launched;
    const command = { file, arguments: given, user: undefined, network: false, alone: true };
    const started = await startSandboxProcess(command, this.#options.clock);
    const { stdout, stderr } = started;
    return {
      ...started,
      kill() {
        started.kill();
        // A process that could not be killed, such as one of sudo, may hold their other ends.
        for (const stream of [stdout, stderr]) stream.destroy();
      },
    };
  }

  async #remove(directory: PrivateDirectory, started: SandboxProcess | undefined): Promise<void> {
    if (started !== undefined) {
      const cancel = this.#options.clock.after(supervisorGraceMs, () => started.kill());
      await started.exited;
      cancel();
      started.release();
    }
    await directory.remove().catch((error: unknown) => {
      this.#options.log("warning", `${directory.path} could not be removed: ${String(error)}`);
    });
  }
}

const launch = "import sys; sys.path.insert(0, sys.argv.pop(1)); import unconfined; unconfined.main()";

/** Nothing that could hold a secret of the host: a skill declares those. */
const passed = /^(?:HOME|LANG|LANGUAGE|LC_[A-Z]+|LOGNAME|SHELL|TZ|USER)$/;
const ownBinaries = join("node_modules", ".bin");

/** The variables that a program has without a sandbox: some of the host, and the real paths of the run's directories. */
export function environmentOf(roots: Roots, host: NodeJS.ProcessEnv): Record<string, string> {
  const inherited = Object.entries(host).filter((entry): entry is [string, string] => passed.test(entry[0]));
  const { PATH = "" } = host;
  // `npx` and `npm run` put the programs of a project first, which anybody who changes the project can add to.
  const isOfUser = (place: string): boolean => isAbsolute(place) && !place.endsWith(`${sep}${ownBinaries}`);
  return {
    ...Object.fromEntries(inherited),
    PATH: PATH.split(delimiter).filter(isOfUser).join(delimiter) || "/usr/local/bin:/usr/bin:/bin",
    RUN_SKILLS: roots.skills,
    RUN_BLOBS: roots.blobs,
    RUN_WORKSPACE: roots.workspace,
    RUN_OUTPUT: roots.output,
    ...(roots.project !== null && { RUN_PROJECT: roots.project }),
  };
}
