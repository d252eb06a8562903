import { closeSync, fstatSync, realpathSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { openAtRealPath, openHandleAtRealPath } from "../../base/paths/at-real-path.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";

/*
 * For files of skills: the directory of a path is real, and only its last name may be a link, which people create deliberately. If a
 * link replaces anything else on the way, nothing is read.
 */

/** Opens a file for reading without blocking. Throws file system errors, and UNREADABLE unless it is a regular file. */
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

/** The same synchronously, as a descriptor. */
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

/** Windows opens the target of a link, which is noticed only afterwards. */
function isLink(error: unknown): boolean {
  if (process.platform === "win32") return isSkillsError(error);
  return error instanceof Error && "code" in error && error.code === "ELOOP";
}

function notRegular(file: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} cannot be read: it is not a regular file.`, { facts: { path: file } });
}
