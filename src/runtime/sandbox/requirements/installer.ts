import { devNull } from "node:os";
import path from "node:path";
import { askProgram } from "../../../base/processes/spawn-process.ts";
import { findCommand } from "../find.ts";
import { ownFiles } from "../directory/own-files.ts";

export type InstallerName = "uv" | "pip";

/** The packages to install and their target; all paths are absolute. */
interface InstallPlan {
  readonly python: string;
  readonly requirementsFile: string;
  readonly target: string;
  /** For temporary files of the installer. */
  readonly scratch: string;
  /** Install only from this directory of wheels, without index and configuration. */
  readonly wheels: string | undefined;
  readonly signal: AbortSignal;
}

interface InstallCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The command of an available installer; undefined if there is none. It uses the user's configuration of package indexes. It installs
 * wheels only: building from source would execute the package's code outside the sandbox.
 */
export async function toInstallCommand(plan: InstallPlan, wanted?: InstallerName): Promise<InstallCommand | undefined> {
  const uv = wanted === "pip" ? undefined : await findUv(plan);
  if (uv !== undefined) return toUvCommand(uv, plan);
  if (wanted === "uv") return undefined;
  const python = await findPip(plan);
  return python === undefined ? undefined : toPipCommand(python, plan);
}

const patience = { timeout: 120_000 };

/** Earlier versions let a wheel write files anywhere (GHSA-4gg8-gxpx-9rph). */
const oldestUv = [0, 11, 15];

async function findUv({ signal }: InstallPlan): Promise<string | undefined> {
  const uv = findCommand("uv");
  const output = uv === undefined ? "" : ((await askProgram(uv, ["--version"], { ...patience, signal })) ?? "");
  const version = /^uv (\d+)\.(\d+)\.(\d+)/.exec(output)?.slice(1).map(Number) ?? [];
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
      // The size of this cache is watched.
      ...["--cache-dir", path.join(scratch, "cache")],
      // Copies, not links to uv's cache; precompiled, because the sandbox cannot write.
      ...["--link-mode", "copy", "--compile-bytecode", "--no-python-downloads", "--no-progress", "--color", "never"],
      ...(wheels === undefined ? [] : ["--no-config", "--no-index", "--find-links", wheels]),
    ],
    environment: { ...scratchEnvironment(scratch), ...(wheels !== undefined && { UV_FIND_LINKS: "" }) },
  };
}

/** The temporary directory, in which installers unpack first. */
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
      // User settings that conflict with a target directory.
      PIP_USER: "0",
      PIP_REQUIRE_VIRTUALENV: "0",
      PIP_ROOT_USER_ACTION: "ignore",
      PIP_PROGRESS_BAR: "off",
      ...(wheels !== undefined && { PIP_CONFIG_FILE: devNull, PIP_FIND_LINKS: "", PIP_EXTRA_INDEX_URL: "" }),
    },
  };
}

/** An interpreter of the same build with pip: the interpreter itself, or the one of a temporary venv. */
async function findPip({ python, scratch, signal }: InstallPlan): Promise<string | undefined> {
  if ((await askProgram(python, ["-I", "-c", "import pip"], { ...patience, signal })) !== undefined) return python;
  const environment = path.join(scratch, "environment");
  if ((await askProgram(python, ["-I", "-m", "venv", environment], { ...patience, signal })) === undefined)
    return undefined;
  return process.platform === "win32"
    ? path.join(environment, "Scripts", "python.exe")
    : path.join(environment, "bin", "python");
}

/** Runs an installer until it ends or is aborted. */
export async function runInstaller(
  command: InstallCommand,
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly succeeded: boolean; readonly output: string }> {
  const { execa } = await import("execa");
  const ended = await execa(command.file, command.arguments, {
    cwd: directory,
    env: { ...command.environment },
    stdin: "ignore",
    all: true,
    reject: false,
    maxBuffer: 8 * 1024 * 1024,
    forceKillAfterDelay: 2000,
    windowsHide: true,
    cancelSignal: signal,
  });
  return { succeeded: !ended.failed, output: ended.all };
}

const greatest = 1000;
const fault = /^(?:ERROR|error): *|^ *× *|^ *╰─▶ */;

/** Extracts the errors from an installer's output, or its last lines; one line, without control characters. */
export function explainFailure(output: string): string {
  // Package names are untrusted: no escape sequences for the terminal.
  const plain = output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[^\P{C}\n]/gu, "");
  const lines = plain.split("\n").filter((line) => line.trim() !== "");
  const faults = lines.filter((line) => fault.test(line)).map((line) => line.replace(fault, "").trim());
  const sentences = [...new Set(faults.length > 0 ? faults : lines.slice(-3).map((line) => line.trim()))];
  const text = sentences.join(" ").slice(0, greatest);
  return `${text.replace(/(?<![.!?])$/, ".")} Only wheels are installed; nothing is built from source.`;
}
