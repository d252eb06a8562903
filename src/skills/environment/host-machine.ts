import { existsSync } from "node:fs";
import path from "node:path";
import { findProgram, searchPath } from "../../base/processes/find-program.ts";
import { type System, isCommandName } from "./requirement.ts";
import type { FoundCommand, Machine } from "../environment.ts";

export interface HostMachineOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

const systems: Partial<Record<NodeJS.Platform, System>> = { linux: "linux", darwin: "macos", win32: "windows" };

/** Returns the machine of this process. Runs nothing. */
export function hostMachine({ env = process.env, platform = process.platform }: HostMachineOptions = {}): Machine {
  let directories: readonly string[] | undefined;
  const endings = platform === "win32" ? (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const found = new Map<string, FoundCommand | undefined>();
  return {
    system: systems[platform],
    find(command) {
      if (!isCommandName(command)) return undefined;
      if (found.has(command)) return found.get(command);
      directories ??= searchedIn(env, platform);
      const file = findProgram(directories, ...endings.map((ending) => command + ending));
      const result = file === undefined ? undefined : { path: file, isPlaceholder: isPlaceholder(file, platform) };
      found.set(command, result);
      return result;
    },
    hasVariable: (name) => (env[name] ?? "") !== "",
  };
}

/** The directories in which programs are searched. */
function searchedIn(env: NonNullable<HostMachineOptions["env"]>, platform: NodeJS.Platform): readonly string[] {
  const isPath = platform === "win32" ? /^path$/i : /^PATH$/;
  const [, searched = ""] = Object.entries(env).find(([name]) => isPath.test(name)) ?? [];
  return [...new Set(searchPath(searched))];
}

const appleTools = [
  "/Library/Developer/CommandLineTools/usr/bin",
  "/Applications/Xcode.app/Contents/Developer/usr/bin",
];
/** Programs in /usr/bin of macOS that open an installer unless Apple's tools are installed. */
const appleStubs = /^\/usr\/bin\/(?:git|python3|pip3|make|gcc|clang|java)$/;

/** Whether a file only has the name of a program and offers to install it. macOS and Windows have such files. */
function isPlaceholder(file: string, platform: NodeJS.Platform): boolean {
  if (platform === "win32") return /\\WindowsApps\\/i.test(file);
  if (platform !== "darwin" || !appleStubs.test(file)) return false;
  return !appleTools.some((directory) => existsSync(path.join(directory, path.basename(file))));
}
