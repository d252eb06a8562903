import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { attempt } from "../../../base/failures/system-error.ts";
import { packageUrl } from "../../../base/paths/location.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import { shellWord } from "../../../base/text/quoted.ts";
import { type TierOptions, beyondPython, lacking, openStartingSandbox } from "../drive/sandbox-life.ts";
import { type Python, installRemedy } from "../find.ts";
import { openPythonTier } from "../find/self-probe.ts";
import type { Explanation, Sandbox } from "../../sandbox.ts";
import {
  type SeatbeltConfiguration,
  type SeatbeltDirectories,
  seatbeltConfiguration,
  startSeatbeltProcess,
} from "./seatbelt-process.ts";

const runtimePackage = "@anthropic-ai/sandbox-runtime";

/** Opens the macOS tier if it passes its self-test, or returns why it is not available. */
export async function openSeatbeltTier(options: TierOptions): Promise<Sandbox | Explanation> {
  const { peersFrom = [], clock, log } = options;
  if (process.platform !== "darwin") return { reason: "Seatbelt is available on macOS only.", fix: [] };
  if (process.getuid?.() === 0)
    return { reason: "Seatbelt is not available as root: root's processes cannot be prevented from forking.", fix: [] };
  const runtime = await loadSeatbeltRuntime([fileURLToPath(packageUrl(".")), ...peersFrom]);
  if (runtime === undefined)
    return {
      reason: `${runtimePackage} is not installed.`,
      fix: [installRemedy([runtimePackage])],
    };
  return await openPythonTier(options, "xcode-select --install", (python, host) =>
    openSeatbeltSandbox({ runtime, python, host, clock, log }),
  );
}

/** Loads the runtime from the `node_modules` of one of `directories`, which must be trusted; `undefined` if it is not installed. */
async function loadSeatbeltRuntime(directories: readonly string[]): Promise<SeatbeltRuntime | undefined> {
  const find = (from: string): string => createRequire(join(from, "package.json")).resolve(runtimePackage);
  const [path] = directories.flatMap((directory) => attempt(() => [find(directory)], []));
  return path === undefined ? undefined : ((await import(pathToFileURL(path).href)) as SeatbeltRuntime);
}

/** The functions that acp-skills uses of `@anthropic-ai/sandbox-runtime` 0.0.x, an optional peer, as documented. */
export interface SeatbeltRuntime {
  /** Paths that every program may write unless they are denied. */
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

export interface SeatbeltOptions extends Pick<TierOptions, "clock" | "log"> {
  readonly runtime: SeatbeltRuntime;
  readonly python: Python;
  readonly host: HostDirectory;
}

/**
 * The macOS tier: CPython under Seatbelt, set up by `sandbox-runtime` with a strict configuration and a clean environment. A run is one
 * process, which cannot fork, so the tier supports Python only, without network access. The runtime's profile allows POSIX shared memory
 * that outlives a run, seeing which directories exist, and reading the process list. Not tested on macOS: the profile, the process limit,
 * and measuring memory with `ps`.
 */
export async function openSeatbeltSandbox(options: SeatbeltOptions): Promise<Sandbox> {
  const { runtime, python, host, clock, log } = options;
  const manager = runtime.SandboxManager;
  const configurationFor = (directories: SeatbeltDirectories): SeatbeltConfiguration =>
    seatbeltConfiguration(directories, runtime.getDefaultWritePaths());
  await manager.initialize(configurationFor({ readable: [], writable: [] }));
  return openStartingSandbox({
    tier: "seatbelt",
    lacks: lacking("seatbelt", "project access", ...beyondPython),
    clock,
    log,
    host,
    async start(_run, { skills, blobs, workspace, output, temporary, packages }) {
      const readable = [host.inside, python.prefix, skills, blobs, ...(packages === null ? [] : [packages])];
      const writable = [workspace, output, temporary];
      const command = [python.executable, "-I", "-S", "-B", "-c", launch, host.inside].map(shellWord).join(" ");
      const configuration = configurationFor({ readable, writable });
      const { argv } = await manager.wrapWithSandboxArgv(`exec ${command}`, "/bin/bash", configuration);
      return { started: await startSeatbeltProcess({ argv, output, writable }, clock) };
    },
    close: () => manager.reset(),
  });
}

const launch =
  "import sys; sys.path.insert(0, sys.argv[1]); import program_process; program_process.main_under_seatbelt()";
