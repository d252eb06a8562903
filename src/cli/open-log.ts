import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, writeSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import type { Log } from "../base/log.ts";
import { safeText } from "./report/safe-text.ts";

/** Diagnostics on stderr: what a person should know, a line each. */
export function openStderrLog(write: (line: string) => void): Log {
  return (level, message) => {
    if (level !== "info") write(`acp-skills: ${safeText(message)}\n`);
  };
}

/** The same on the stderr of this process. What nobody reads any more is lost; that ends nothing. */
export function openProcessLog(): Log {
  process.stderr.on("error", () => undefined);
  return openStderrLog((line) => process.stderr.write(line));
}

/** Without O_NONBLOCK, opening a FIFO waits for somebody to read it; with it, it is refused. Windows has neither, nor O_NOFOLLOW. */
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const openFlags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | O_NONBLOCK | O_NOFOLLOW;

/**
 * Diagnostics of every level appended to a file, with times; errors go to `aside` too. Throws where the file cannot be
 * opened, and where it may be one that others want us to write to: behind a link, no regular file, or another user's. When it can no
 * longer be written, that is told once and diagnostics go to `aside`.
 */
export function openFileLog(file: string, aside: Log, now: () => Date): Log {
  const descriptor = openOwnFile(file);
  let isBroken = false;
  return (level, message) => {
    if (level === "error" || isBroken) aside(level, message);
    if (isBroken) return;
    try {
      writeSync(descriptor, `${now().toISOString()} ${level} ${safeText(message)}\n`);
    } catch (error) {
      isBroken = true;
      aside("error", `${file} cannot be written any more: ${String(error)}`);
      if (level !== "error") aside(level, message);
    }
  };
}

function openOwnFile(file: string): number {
  if (liesBehindLink(file)) throw new Error(isLink);
  // Windows opens what a link leads to; elsewhere the link itself is refused, whenever it is made.
  if (O_NOFOLLOW === 0 && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new Error(isLink);
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags, 0o600);
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "ELOOP" ? new Error(isLink) : error;
  }
  const fault = ownershipFault(fstatSync(descriptor));
  if (fault === undefined) return descriptor;
  closeSync(descriptor);
  throw new Error(fault);
}

const isLink = "it is a symbolic link, or behind one, which may lead anywhere; name the file itself";

/** Directories of the current one are as little trusted as files are: they may have come with a repository. */
function liesBehindLink(file: string): boolean {
  if (path.isAbsolute(file)) return false;
  const directory = path.resolve(realpathSync("."), path.dirname(file));
  return realpathSync(directory) !== directory;
}

function ownershipFault(found: Stats): string | undefined {
  // Somebody who follows it: a terminal, or /dev/null. It keeps nothing.
  if (found.isCharacterDevice()) return undefined;
  if (!found.isFile()) return "it is not a regular file";
  const user = process.geteuid?.();
  return user === undefined || found.uid === user ? undefined : "it belongs to another user";
}
