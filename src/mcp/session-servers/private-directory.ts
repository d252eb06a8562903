import { lstatSync, mkdtempSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SkillsError } from "../../base/errors.ts";

const prefix = "acp-skills-mcp-";

/** The maximum length of the temporary directory's path. Paths of Unix sockets have at most 104 bytes on macOS, 108 on Linux. */
const maxDirectoryBytes = 80;

/** The minimum age of an empty directory that is removed: a younger one may be about to be used. */
const forgottenMs = 600_000;

/** Creates a directory that only this user can enter. Throws INTERNAL if the created directory is not private. */
export function makeSocketDirectory(temporaryDirectory = tmpdir()): string {
  const isShort = Buffer.byteLength(temporaryDirectory) <= maxDirectoryBytes;
  const directory = mkdtempSync(join(isShort ? temporaryDirectory : "/tmp", prefix));
  const fault = privacyFault(directory);
  if (fault !== undefined) throw new SkillsError("INTERNAL", `${directory} cannot be used: ${fault}.`);
  return directory;
}

/** Why other users could enter a directory; undefined if only root could. */
export function privacyFault(directory: string): string | undefined {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return "it does not exist";
  if (!found.isDirectory()) return "it is not a directory";
  if (found.uid !== process.geteuid?.()) return "it belongs to another user";
  return (found.mode & 0o077) === 0 ? undefined : "other users have access to it";
}

/** Removes the directories of killed processes of this user, on whose sockets nothing listens. Never rejects. */
export async function sweepPrivateDirectories(temporaryDirectory = tmpdir()): Promise<void> {
  try {
    for (const name of readdirSync(temporaryDirectory)) {
      const directory = join(temporaryDirectory, name);
      if (name.startsWith(prefix) && privacyFault(directory) === undefined) await removeIfDeserted(directory);
    }
  } catch {
    // A failure is harmless: the next sweep tries again.
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
