import { devNull } from "node:os";
import path from "node:path";
import { isSkillsError } from "../../errors.ts";
import { runProgram } from "../../base/spawn-process.ts";
import { findCommand } from "../find/find-command.ts";
import { ownFiles } from "../directory/own-files.ts";

export type InstallerName = "uv" | "pip";

/** What is to be installed where; all paths are absolute. */
export interface InstallPlan {
  readonly python: string;
  readonly requirementsFile: string;
  readonly target: string;
  /** For what an installer needs besides; removed afterwards. */
  readonly scratch: string;
  /** A directory of wheels: nothing else is asked, no index and no configuration. */
  readonly wheels: string | undefined;
  readonly signal: AbortSignal;
}

export interface InstallCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The command of an installer that is there; undefined where none is. The person's own configuration of indexes holds. Wheels
 * only: to build from source is to run the package's code on this machine, outside of every sandbox.
 */
export async function toInstallCommand(plan: InstallPlan, wanted?: InstallerName): Promise<InstallCommand | undefined> {
  const uv = wanted === "pip" ? undefined : await findUv(plan);
  if (uv !== undefined) return toUvCommand(uv, plan);
  if (wanted === "uv") return undefined;
  const python = await findPip(plan);
  return python === undefined ? undefined : toPipCommand(python, plan);
}

/** Before this one, a wheel could have a program written wherever its name leads (GHSA-4gg8-gxpx-9rph). */
const oldestUv = [0, 11, 15];

async function findUv({ signal }: InstallPlan): Promise<string | undefined> {
  const uv = findCommand("uv");
  const told = uv === undefined ? "" : ((await ask(uv, ["--version"], signal)) ?? "");
  const version = /^uv (\d+)\.(\d+)\.(\d+)/.exec(told)?.slice(1).map(Number) ?? [];
  const differs = oldestUv.findIndex((part, at) => version[at] !== part);
  return differs < 0 || (version[differs] ?? -1) > (oldestUv[differs] ?? 0) ? uv : undefined;
}

const onlyWheels = ["--only-binary", ":all:"];

function toUvCommand(uv: string, plan: InstallPlan): InstallCommand {
  const { python, requirementsFile, target, scratch, wheels } = plan;
  return {
    file: uv,
    arguments: [
      ...["pip", "install", "--python", python, "--target", target, "--requirements", requirementsFile],
      ...onlyWheels,
      // Nothing is unpacked where nobody sees how much it is.
      ...["--cache-dir", path.join(scratch, "cache")],
      // Files of our own, not shared with uv's cache; compiled, because the sandbox cannot write.
      ...["--link-mode", "copy", "--compile-bytecode", "--no-python-downloads", "--no-progress", "--color", "never"],
      ...(wheels === undefined ? [] : ["--no-config", "--no-index", "--find-links", wheels]),
    ],
    environment: { ...scratchEnvironment(scratch), ...(wheels !== undefined && { UV_FIND_LINKS: "" }) },
  };
}

/** Installers unpack in the directory for temporary files first. */
function scratchEnvironment(scratch: string): Record<string, string> {
  return { TMPDIR: scratch, TEMP: scratch, TMP: scratch };
}

function toPipCommand(python: string, { requirementsFile, target, scratch, wheels }: InstallPlan): InstallCommand {
  return {
    file: python,
    arguments: [
      ...["-I", ownFiles.onlyWheels, "install", "--target", target, "--requirement", requirementsFile],
      ...onlyWheels,
      ...["--no-input", "--disable-pip-version-check", "--no-color", "--no-warn-script-location"],
      ...(wheels === undefined ? [] : ["--no-index", "--find-links", wheels]),
    ],
    environment: {
      ...scratchEnvironment(scratch),
      // What a person may have configured that contradicts a target directory.
      PIP_USER: "0",
      PIP_REQUIRE_VIRTUALENV: "0",
      PIP_ROOT_USER_ACTION: "ignore",
      PIP_PROGRESS_BAR: "off",
      ...(wheels !== undefined && { PIP_CONFIG_FILE: devNull, PIP_FIND_LINKS: "", PIP_EXTRA_INDEX_URL: "" }),
    },
  };
}

/** An interpreter of the same build that has pip: the one itself, or that of an environment made for the moment. */
async function findPip({ python, scratch, signal }: InstallPlan): Promise<string | undefined> {
  if ((await ask(python, ["-I", "-c", "import pip"], signal)) !== undefined) return python;
  const environment = path.join(scratch, "environment");
  if ((await ask(python, ["-I", "-m", "venv", environment], signal)) === undefined) return undefined;
  return process.platform === "win32"
    ? path.join(environment, "Scripts", "python.exe")
    : path.join(environment, "bin", "python");
}

const patienceMs = 120_000;

/** What a command prints; undefined where it fails: why is of no use, the caller says what to install. */
async function ask(file: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  try {
    return await runProgram(file, args, { timeout: patienceMs, signal });
  } catch (error) {
    if (isSkillsError(error)) throw error;
    return undefined;
  }
}
