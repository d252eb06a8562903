import path from "node:path";
import { homedir } from "node:os";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isWithin, packageUrl } from "../../base/paths/location.ts";
import { findProgram, searchPath } from "../../base/processes/find-program.ts";
import { askProgram } from "../../base/processes/spawn-process.ts";
import { shellWord } from "../../base/text/quoted.ts";

/** The absolute path of a program that this user may execute; the directories `first` are searched before `PATH`. */
export function findCommand(name: string, first: readonly string[] = []): string | undefined {
  return findProgram([...first, ...searchPath()], name);
}

/** A Python interpreter for sandboxes. */
export interface Python {
  /** The real program, not a link or a shim. */
  readonly executable: string;
  readonly version: string;
  /** `sys.base_prefix`: `/usr` for the system's Python. */
  readonly prefix: string;
}

const names = ["python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9"];
const systemDirectories = ["/usr/bin", "/usr/local/bin"];
const question = [
  "import sys, os, json, ctypes",
  "base = getattr(sys, '_base_executable', None) or sys.executable",
  "print(json.dumps([sys.implementation.name, list(sys.version_info[:3]), os.path.realpath(base), sys.base_prefix]))",
].join("\n");
const patienceMs = 10_000;

/** Finds CPython ≥ 3.9, preferably the system's, or returns why there is none. With `wanted`, only that program is considered. */
export async function findPython(wanted?: string): Promise<Python | { readonly reason: string }> {
  const candidates = wanted === undefined ? names.map((name) => findCommand(name, systemDirectories)) : [wanted];
  const reasons: string[] = [];
  for (const candidate of new Set(candidates.filter((path) => path !== undefined))) {
    const found = await ask(candidate);
    if (!("reason" in found)) return found;
    reasons.push(found.reason);
  }
  return { reason: reasons[0] ?? "python3 is not installed." };
}

async function ask(command: string): Promise<Python | { readonly reason: string }> {
  // Without the user's site-packages and environment, as it will run in the sandbox.
  const options = { env: { PATH: "/usr/bin:/bin" }, cwd: "/", timeout: patienceMs };
  const answer = await askProgram(command, ["-I", "-S", "-c", question], options);
  if (answer === undefined) return { reason: `${command} does not run, or its standard library is missing.` };
  return readInterpreterReport(command, answer);
}

/** Checks the report of an interpreter. The sandbox mounts its whole prefix, which must not contain a home directory. */
export function readInterpreterReport(
  command: string,
  answer: string,
  home = homedir(),
): Python | { readonly reason: string } {
  const [implementation, version, executable, prefix] = JSON.parse(answer) as [string, number[], string, string];
  const [major = 0, minor = 0] = version;
  if (implementation !== "cpython") return { reason: `${command} is ${implementation}, not CPython.` };
  if (major !== 3 || minor < 9)
    return { reason: `${command} is Python ${version.join(".")}; 3.9 or later is required.` };
  if (prefix !== "/usr" && isWithin(home, prefix))
    return { reason: `${command} is installed in ${prefix}, which contains ${home}.` };
  return { executable, version: version.join("."), prefix };
}

/** The commands that install a package of the system: Debian's, Fedora's, Arch's, openSUSE's, Alpine's. */
const installers = ["apt-get install", "dnf install", "pacman -S", "zypper install", "apk add"];

/** The command that installs a package with this system's package manager. */
export function installCommand(
  name: string,
  find: (command: string) => string | undefined = findCommand,
  isRoot = process.getuid?.() === 0,
): string {
  const installer = installers.find((one) => find(one.split(" ", 1)[0] ?? "") !== undefined);
  if (installer === undefined) return `Install ${name} with this system's package manager.`;
  return `${isRoot ? "" : "sudo "}${installer} ${name}`;
}

/**
 * The command that installs packages so that this package finds them: in a project, in npx's cache, or globally. `own` is a file of this
 * package.
 */
export function installRemedy(
  packages: readonly string[],
  own: string = fileURLToPath(packageUrl(".")),
  exists: (file: string) => boolean = existsSync,
): string {
  const names = packages.join(" ");
  const around = projectAround(own);
  if (around === undefined) return `npm install ${names}`;
  // A global node_modules belongs to no project.
  const isProject = exists(path.join(around, "package.json"));
  return `npm install ${isProject ? `--prefix ${shellWord(around)}` : "--global"} ${names}`;
}

/** The directory that contains the outermost node_modules around a file. */
function projectAround(file: string): string | undefined {
  const segments = file.split(path.sep);
  const at = segments.indexOf("node_modules");
  return at < 0 ? undefined : segments.slice(0, at).join(path.sep) || path.sep;
}
