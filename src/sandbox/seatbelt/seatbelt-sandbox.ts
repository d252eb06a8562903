import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { closableSandbox } from "../drive/closable-sandbox.ts";
import { driveRun } from "../drive/drive-run.ts";
import type { Python } from "../find/find-python.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import { installRemedy } from "../find/install-remedy.ts";
import { layFiles, makePrivateDirectory, ownRootNames, ownRoots } from "../directory/lay-files.ts";
import type { Sandbox, SandboxRun } from "../sandbox.ts";
import { quoted, seatbeltConfiguration } from "./seatbelt-configuration.ts";
import type { SeatbeltConfiguration } from "./seatbelt-configuration.ts";
import { startSeatbeltProcess } from "./seatbelt-process.ts";

/** What is used of `@anthropic-ai/sandbox-runtime` 0.0.x, an optional peer: its documented interface. */
export interface SeatbeltRuntime {
  /** What every program may write unless it is denied. */
  getDefaultWritePaths(): readonly string[];
  readonly SandboxManager: {
    initialize(configuration: SeatbeltConfiguration): Promise<void>;
    wrapWithSandboxArgv(
      command: string,
      shell: string,
      configuration: SeatbeltConfiguration,
    ): Promise<{ readonly argv: readonly string[] }>;
    reset(): Promise<void>;
  };
}

export interface SeatbeltOptions {
  readonly runtime: SeatbeltRuntime;
  readonly python: Python;
  readonly host: HostDirectory;
  readonly clock: Clock;
  readonly log: Log;
}

export const seatbeltRemedy = (): string => installRemedy(["@anthropic-ai/sandbox-runtime"]);

/** The runtime, from one of `directories`, whose `node_modules` are executed and must be trusted; `undefined` where there is none. */
export async function loadSeatbeltRuntime(directories: readonly string[]): Promise<SeatbeltRuntime | undefined> {
  for (const directory of directories) {
    let path: string;
    try {
      path = createRequire(join(directory, "package.json")).resolve("@anthropic-ai/sandbox-runtime");
    } catch {
      continue; // Not installed there.
    }
    return (await import(pathToFileURL(path).href)) as SeatbeltRuntime;
  }
  return undefined;
}

/**
 * For macOS: CPython under Seatbelt, as `sandbox-runtime` sets it up, configured strictly, with an environment of its own.
 * One process a run, which cannot fork; so it runs Python only, and without network.
 * Not covered, because the runtime's profile allows it: POSIX shared memory outlives a run, a program sees which directories
 * exist, and reads the list of processes. What needs macOS itself has never been run by our tests: the profile, the limit of
 * processes, and `ps` as the measure of memory.
 */
export async function openSeatbeltSandbox(options: SeatbeltOptions): Promise<Sandbox> {
  const { runtime, python, host, clock, log } = options;
  const manager = runtime.SandboxManager;
  let made = 0;
  await manager.initialize(configurationFor({ readable: [], writable: [] }));

  function configurationFor(places: {
    readable: readonly string[];
    writable: readonly string[];
  }): SeatbeltConfiguration {
    return seatbeltConfiguration(places, runtime.getDefaultWritePaths());
  }

  async function perform(...[run, runHost, signal]: Parameters<Sandbox["run"]>): ReturnType<Sandbox["run"]> {
    const directory = makePrivateDirectory(join(host.path, `s${++made}`), undefined, ownRootNames);
    try {
      await layFiles(directory, run.skills, run.blobs);
      if (signal.aborted) return { type: "cancelled" };
      const { skills, blobs, workspace, output, temporary } = ownRoots(directory);
      const packages = run.packages ?? null;
      const readable = [host.inside, python.prefix, skills, blobs, ...(packages === null ? [] : [packages])];
      const writable = [workspace, output, temporary];
      const command = [python.executable, "-I", "-S", "-B", "-c", launch, host.inside].map(quoted).join(" ");
      const { argv } = await manager.wrapWithSandboxArgv(
        `exec ${command}`,
        "/bin/bash",
        configurationFor({ readable, writable }),
      );
      const environment = { PATH: "/usr/bin:/bin", HOME: workspace, LANG: "C.UTF-8", TMPDIR: temporary };
      const started = await startSeatbeltProcess({ argv, environment, output, writable }, clock);
      const roots = { skills, blobs, workspace, output, temporary, project: null, packages };
      const interpreters = { python: python.executable, bash: "/bin/bash", node: process.execPath };
      const surroundings = {
        tier: "seatbelt",
        roots,
        interpreters,
        environment,
        proxyPort: undefined,
      } as const;
      return await driveRun(started, run, surroundings, runHost, signal, { clock, log });
    } finally {
      await directory.remove();
    }
  }

  return closableSandbox({ tier: "seatbelt", refuses, perform, close: () => manager.reset() });
}

const launch =
  "import sys; sys.path.insert(0, sys.argv[1]); import runpy; runpy.run_module('seatbelt_entry', run_name='__main__')";

function refuses({ program, network, project }: SandboxRun): string | undefined {
  if (program.type === "script" && program.language !== "python")
    return `Seatbelt's runs are Python, not ${program.language}.`;
  if (network.length > 0) return "Seatbelt's runs have no network of their own, so they get none.";
  if (project !== undefined) return "Seatbelt's runs cannot be shown the project.";
  return undefined;
}
