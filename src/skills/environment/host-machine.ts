import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { isWithin } from "../../base/paths/location.ts";
import { findProgram, searchPath } from "../../base/processes/find-program.ts";
import { runProgram } from "../../base/processes/spawn-process.ts";
import { followPath } from "../files/follow-path.ts";
import { findVersion, isCommandName, versionArguments } from "./known-programs.ts";
import type { System } from "./requirement.ts";
import type { FoundCommand, Machine } from "../environment.ts";

export interface HostMachineOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  /** Directories of projects, besides the current one: nothing in their repositories is run. Asked at each question. */
  readonly projects?: () => readonly string[];
  readonly home?: string;
  /** Ends programs that are running. */
  readonly signal?: AbortSignal;
}

const systems: Partial<Record<NodeJS.Platform, System>> = { linux: "linux", darwin: "macos", win32: "windows" };
const patienceMs = 5_000;
const longestOutput = 64 * 1024;

/**
 * This machine. A program is run only for its version, only if it is a known one, and only from a directory that neither another user nor a
 * project can write to; without a shell, in `/`, with a small environment.
 */
export function hostMachine(options: HostMachineOptions = {}): Machine {
  const {
    env = process.env,
    platform = process.platform,
    projects: given = () => [],
    home = homedir(),
    signal,
  } = options;
  const isPath = platform === "win32" ? /^path$/i : /^PATH$/;
  const [, searched = ""] = Object.entries(env).find(([name]) => isPath.test(name)) ?? [];
  const directories = [...new Set(searchPath(searched))];
  const endings = platform === "win32" ? (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const projects = (): readonly string[] =>
    // The current directory may be deleted.
    [...attempt(() => [process.cwd()], []), ...given()].flatMap((place) => projectsAround(place, home));
  const found = new Map<string, FoundCommand | undefined>();
  const versions = new Map<string, ReturnType<Machine["version"]>>();

  function find(command: string): FoundCommand | undefined {
    if (!isCommandName(command)) return undefined;
    if (found.has(command)) return found.get(command);
    const file = findProgram(directories, ...endings.map((ending) => command + ending));
    const toFound = (path: string) => ({ path, isPlaceholder: isPlaceholder(path, platform), isShim: isShim(path) });
    const result = file === undefined ? undefined : toFound(file);
    found.set(command, result);
    return result;
  }

  async function ask(command: string): ReturnType<Machine["version"]> {
    const args = versionArguments(command);
    const file = find(command)?.path;
    if (args === undefined || file === undefined) return { reason: "acp-skills does not run this program" };
    const fault =
      platform === "win32" && !/\.(?:exe|com)$/i.test(file) ? "it is a script" : placeFault(file, projects());
    if (fault !== undefined) return { reason: `it is not run, because ${fault}` };
    const { HOME, USERPROFILE, SystemRoot } = env;
    const trusted = directories.filter((directory) => placeFault(directory, projects()) === undefined);
    try {
      const output = await runProgram(file, args, {
        cwd: path.parse(file).root,
        env: { HOME, USERPROFILE, SystemRoot, ...quiet, PATH: trusted.join(path.delimiter) },
        timeout: patienceMs,
        killSignal: "SIGKILL",
        maxBuffer: longestOutput,
        windowsHide: true,
        ...(signal && { signal }),
      });
      const version = findVersion(output);
      return version === undefined ? { reason: "it does not print one" } : { version };
    } catch {
      return { reason: "it does not run, or takes too long" };
    }
  }

  return {
    system: systems[platform],
    find,
    async version(command) {
      const asked = versions.get(command) ?? ask(command);
      versions.set(command, asked);
      return await asked;
    },
    hasVariable: (name) => (env[name] ?? "") !== "",
  };
}

/** A directory and the repository around it; nothing if it contains the home directory, which is no project. */
export function projectsAround(directory: string, home: string): readonly string[] {
  const real = realOf(directory);
  const around = upwards(real).filter((above) => !isWithin(realOf(home), above));
  const repository = around.find((above) => existsSync(path.join(above, ".git")));
  return around.slice(0, 1).concat(repository === undefined ? [] : [repository]);
}

const appleTools = [
  "/Library/Developer/CommandLineTools/usr/bin",
  "/Applications/Xcode.app/Contents/Developer/usr/bin",
];
/** Programs in /usr/bin of macOS that open an installer unless Apple's tools are there. */
const appleStubs = /^\/usr\/bin\/(?:git|python3|pip3|make|gcc|clang|java)$/;

/** Of pyenv, rbenv, asdf, mise, volta and rustup. */
function isShim(file: string): boolean {
  const real = realOf(file);
  const isNamed = /^(?:volta-shim|rustup|mise|asdf)(?:\.exe)?$/.test(path.basename(real));
  return isNamed || [file, real].some((place) => place.split(path.sep).includes("shims"));
}

/** macOS and Windows have files that are named like a program and offer to install it. */
function isPlaceholder(file: string, platform: NodeJS.Platform): boolean {
  if (platform === "win32") return /\\WindowsApps\\/i.test(file);
  if (platform !== "darwin" || !appleStubs.test(file)) return false;
  return !appleTools.some((directory) => existsSync(path.join(directory, path.basename(file))));
}

/** Why what is at a path must not be run: somebody else could have put it there. */
export function placeFault(file: string, projects: readonly string[]): string | undefined {
  const { steps, real } = followPath(file);
  if (real === undefined) return "it is gone";
  // Each link on the way, and where it ends.
  const places = [...steps.map(({ directory, name }) => path.join(directory, name)), real];
  if (places.some((place) => place.split(path.sep).includes("node_modules"))) return "it belongs to a project";
  const around = projects.map(realOf);
  if (places.some((place) => around.some((project) => isWithin(place, project)))) return "it is inside a project";
  const writable = process.platform === "win32" ? undefined : places.flatMap(upwards).find(isWritableByOthers);
  return writable === undefined ? undefined : `another user can write to ${writable}`;
}

/** The path itself if it was removed. */
function realOf(directory: string): string {
  return attempt(() => realpathSync(directory), directory);
}

/** A path and every directory above it. */
function upwards(place: string): readonly string[] {
  const above = path.dirname(place);
  return above === place ? [place] : [place, ...upwards(above)];
}

function isWritableByOthers(place: string): boolean {
  const user = process.getuid?.();
  const stats = attempt(() => statSync(place), undefined);
  // Not accessible.
  if (stats === undefined) return true;
  const { uid, gid, mode } = stats;
  if (uid !== 0 && uid !== user) return true;
  const isSticky = (mode & 0o1000) !== 0;
  // The user's own group, root's, and macOS's `admin`, whose members may become root.
  const isOwnGroup =
    gid === 0 || (gid === user && gid === process.getgid?.()) || (process.platform === "darwin" && gid === 80);
  return !isSticky && ((mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !isOwnGroup));
}

/** Keeps programs from looking for updates, reporting use, or installing what is missing. */
const quiet: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  GH_NO_UPDATE_NOTIFIER: "1",
  GOTOOLCHAIN: "local",
  RUSTUP_AUTO_INSTALL: "0",
  DENO_NO_UPDATE_CHECK: "1",
  DO_NOT_TRACK: "1",
};
