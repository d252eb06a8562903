import { closeSync, fstatSync, realpathSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { openAtRealPath, openHandleAtRealPath } from "../../base/at-real-path.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";

/*
 * For the files of skills: a path is that of a real directory and a name in it. The name may be a link, which people put there on
 * purpose; where anything else on the way has become one, nothing is read.
 */

/** Opens a file for reading; never waits. Throws what the file system throws, and UNREADABLE for what is no regular file. */
export async function openRegularFile(file: string): Promise<FileHandle> {
  const handle = await openHandleAtRealPath(file).catch(async (error: unknown) => {
    if (!isLink(error)) throw error;
    return await openHandleAtRealPath(realpathSync.native(file));
  });
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(file);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** The same at once, as a descriptor. */
export function openRegularFileSync(file: string): number {
  const descriptor = openSync(file);
  try {
    if (!fstatSync(descriptor).isFile()) throw notRegular(file);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

function openSync(file: string): number {
  try {
    return openAtRealPath(file);
  } catch (error) {
    if (!isLink(error)) throw error;
    return openAtRealPath(realpathSync.native(file));
  }
}

/** Windows opens what a link leads to, and only then it shows. */
function isLink(error: unknown): boolean {
  if (process.platform === "win32") return isSkillsError(error);
  return error instanceof Error && "code" in error && error.code === "ELOOP";
}

function notRegular(file: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} cannot be read: it is not a regular file.`, { facts: { path: file } });
}
