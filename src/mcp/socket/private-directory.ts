import { lstatSync, mkdtempSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SkillsError } from "../../errors.ts";

/** Begins the name of every such directory. */
const prefix = "acp-skills-mcp-";

/** The address of a unix socket has 104 bytes on macOS, and some more on Linux; so many are left for the directory. */
const longestDirectory = 80;

/** How old an empty one must be to be nobody's: it may have been made just now. */
const forgottenMs = 600_000;

/** A new directory into which only this user comes. Throws where it cannot be had. */
export function makePrivateDirectory(temporaryDirectory = tmpdir()): string {
  const isShort = Buffer.byteLength(temporaryDirectory) <= longestDirectory;
  const directory = mkdtempSync(join(isShort ? temporaryDirectory : "/tmp", prefix));
  const fault = privacyFault(directory);
  if (fault !== undefined) throw new SkillsError("INTERNAL", `${directory} cannot be used: ${fault}.`);
  return directory;
}

/** Why other users may come into a directory; undefined where none can, but root. */
export function privacyFault(directory: string): string | undefined {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return "it does not exist";
  if (!found.isDirectory()) return "it is not a directory";
  if (found.uid !== process.geteuid?.()) return "it belongs to another user";
  return (found.mode & 0o077) === 0 ? undefined : "other users may use it";
}

/** Removes the directories of this user's processes that were killed: nobody listens at their sockets. Never throws. */
export async function sweepPrivateDirectories(temporaryDirectory = tmpdir()): Promise<void> {
  try {
    for (const name of readdirSync(temporaryDirectory)) {
      const directory = join(temporaryDirectory, name);
      if (name.startsWith(prefix) && privacyFault(directory) === undefined) await removeIfDeserted(directory);
    }
  } catch {
    // What cannot be removed now may be the next time; it does no harm.
  }
}

async function removeIfDeserted(directory: string): Promise<void> {
  const sockets = readdirSync(directory).map((name) => join(directory, name));
  if (sockets.length === 0 && Date.now() - lstatSync(directory).mtimeMs < forgottenMs) return;
  for (const socket of sockets) if (await isDeserted(socket)) unlinkSync(socket);
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}

async function isDeserted(socket: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const connection = connect(socket, () => resolve(false));
    connection.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
    connection.once("connect", () => connection.destroy());
  });
}
