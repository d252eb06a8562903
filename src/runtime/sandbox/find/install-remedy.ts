import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { urlOf } from "../../../base/paths/location.ts";
import { findCommand } from "../find.ts";

/** What installs a package of the system, by its package manager: Debian's, Fedora's, Arch's, openSUSE's, Alpine's. */
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
 * The command that installs packages where this one finds them: in a project, in npx's cache, or globally. `own` is a file of this
 * package.
 */
export function installRemedy(
  packages: readonly string[],
  own: string = fileURLToPath(urlOf(import.meta)),
  { cwd = () => process.cwd(), exists = existsSync }: { cwd?: () => string; exists?: (file: string) => boolean } = {},
): string {
  const names = packages.join(" ");
  const around = projectAround(own);
  if (around === undefined) return `npm install ${names}`;
  // A global node_modules belongs to no project.
  if (!exists(path.join(around, "package.json"))) return `npm install --global ${names}`;
  return around === whereWeAre(cwd) ? `npm install ${names}` : `npm install --prefix ${quoted(around)} ${names}`;
}

/** The directory that contains the outermost node_modules around a file. */
function projectAround(file: string): string | undefined {
  const segments = file.split(path.sep);
  const at = segments.indexOf("node_modules");
  return at < 0 ? undefined : segments.slice(0, at).join(path.sep) || path.sep;
}

function whereWeAre(cwd: () => string): string | undefined {
  try {
    return cwd();
  } catch {
    return undefined; // The current directory was deleted.
  }
}

function quoted(directory: string): string {
  return /^[\w./\\:@+-]+$/.test(directory) ? directory : JSON.stringify(directory);
}
