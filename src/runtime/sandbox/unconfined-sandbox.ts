import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { directoryReplaced, directoryIdentityOf, isSameDirectory } from "../../base/paths/identity.ts";
import { makeHostDirectory, sweepLeftovers } from "./directory/host-directory.ts";
import { missingOwnFiles } from "./directory/own-files.ts";
import type { Roots } from "./directory/private-directory.ts";
import { type TierOptions, openStartingSandbox } from "./drive/sandbox-life.ts";
import { findCommand, findPython } from "./find.ts";
import { startSandboxProcess } from "./processes/start-sandbox-process.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";

type Options = Pick<TierOptions, "python" | "temporaryDirectory" | "clock" | "log">;

/**
 * Opens the tier "none", which isolates nothing: code has all rights of the user. It runs only code that the user has allowed to leave the
 * sandbox, and never replaces another tier. Time, printed bytes, the result, memory, processes and the run's own directories are limited as
 * usual, and its processes are killed at the end. Code can evade all of this if it wants to.
 */
export async function openUnconfinedSandbox(options: Options): Promise<Sandbox | Explanation> {
  const { clock, log, temporaryDirectory = tmpdir() } = options;
  if (process.platform === "win32") return { reason: onWindows, fix: [] };
  const missing = missingOwnFiles();
  if (missing !== undefined) return { reason: missing, fix: [] };
  await sweepLeftovers(log, temporaryDirectory);
  const python = await findPython(options.python);
  if ("reason" in python) return { ...python, fix: [] };
  const host = await makeHostDirectory(python, temporaryDirectory);
  const bash = findCommand("bash", ["/bin", "/usr/bin"]) ?? null;
  return openStartingSandbox({
    tier: "none",
    lacks: bash === null ? { "scripts in bash": "bash is not installed." } : {},
    clock,
    log,
    host,
    async start({ project }, roots) {
      if (project?.identity !== undefined && !isSameDirectory(directoryIdentityOf(project.directory), project.identity))
        throw directoryReplaced(project.directory);
      const given = ["-I", "-S", "-B", "-c", launch, host.inside];
      const command = { file: python.executable, arguments: given, user: undefined, network: false, alone: true };
      const started = await startSandboxProcess(command, clock);
      const { stdout, stderr } = started;
      const kill = (): void => {
        started.kill();
        // A process that cannot be killed, such as one of sudo, may hold the other ends of the streams.
        for (const stream of [stdout, stderr]) stream.destroy();
      };
      const environment = environmentOf(roots, process.env);
      const outside = { environment, interpreters: { bash, node: process.execPath } };
      return { started: { ...started, kill }, outside };
    },
  });
}

const onWindows =
  "Code cannot run without a sandbox on Windows, because the processes that it starts could not be ended reliably.";

const launch = "import sys; sys.path.insert(0, sys.argv.pop(1)); import unconfined; unconfined.main()";

/** The variables that are passed on. None can hold a secret of the host: a skill declares its secrets. */
const passed = /^(?:HOME|LANG|LANGUAGE|LC_[A-Z]+|LOGNAME|SHELL|TZ|USER)$/;
const ownBinaries = join("node_modules", ".bin");

/** The variables that a program has without a sandbox: some of the host, and the real paths of the run's directories. */
export function environmentOf(roots: Roots, host: NodeJS.ProcessEnv): Record<string, string> {
  const inherited = Object.entries(host).filter((entry): entry is [string, string] => passed.test(entry[0]));
  const { PATH = "" } = host;
  // `npx` and `npm run` put the programs of a project first. Everyone who can change the project can add to them.
  const isOfUser = (directory: string): boolean => isAbsolute(directory) && !directory.endsWith(`${sep}${ownBinaries}`);
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
