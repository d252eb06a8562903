import { type Stats, closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, writeSync } from "node:fs";
import path from "node:path";
import { systemCode } from "../base/failures/system-error.ts";
import type { Log } from "../base/log.ts";
import { safeText } from "./report/safe-text.ts";

/** Writes warnings and errors to stderr, one line each. */
export function createStderrLog(write: (line: string) => void): Log {
  return (level, message) => {
    if (level !== "info") write(`acp-skills: ${safeText(message)}\n`);
  };
}

/** With O_NONBLOCK, opening a FIFO without a reader fails instead of blocking. Windows has neither flag. */
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const openFlags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | O_NONBLOCK | O_NOFOLLOW;

/**
 * Appends diagnostics of every level to a file, with times; errors also go to `aside`. Throws if the file cannot be opened, and for
 * files that an attacker could redirect: behind a symbolic link, not regular, or owned by another user. If writing fails
 * later, that is reported once and everything goes to `aside`.
 */
export function createFileLog(file: string, aside: Log, now: () => Date): Log {
  const descriptor = openOwnFile(file);
  let isBroken = false;
  return (level, message) => {
    if (level === "error" || isBroken) aside(level, message);
    if (isBroken) return;
    try {
      writeSync(descriptor, `${now().toISOString()} ${level} ${safeText(message)}\n`);
    } catch (error) {
      isBroken = true;
      aside("error", `cannot write to ${file}: ${String(error)}`);
      if (level !== "error") aside(level, message);
    }
  };
}

function openOwnFile(file: string): number {
  if (liesBehindLink(file)) throw new Error(isLink);
  // Windows follows links; elsewhere O_NOFOLLOW refuses them without a race.
  if (O_NOFOLLOW === 0 && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new Error(isLink);
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags, 0o600);
  } catch (error) {
    throw systemCode(error) === "ELOOP" ? new Error(isLink) : error;
  }
  const fault = ownershipFault(fstatSync(descriptor));
  if (fault === undefined) return descriptor;
  closeSync(descriptor);
  throw new Error(fault);
}

const isLink = "the path contains a symbolic link; use the path of the file itself";

/** Directories below the current one are not trusted: they may come with a repository. */
function liesBehindLink(file: string): boolean {
  if (path.isAbsolute(file)) return false;
  const directory = path.resolve(realpathSync("."), path.dirname(file));
  return realpathSync(directory) !== directory;
}

function ownershipFault(found: Stats): string | undefined {
  // A terminal, or /dev/null.
  if (found.isCharacterDevice()) return undefined;
  if (!found.isFile()) return "it is not a regular file";
  const user = process.geteuid?.();
  return user === undefined || found.uid === user ? undefined : "it belongs to another user";
}
