import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { SkillsError } from "../errors.ts";

/** For reading. Without O_NONBLOCK, opening a FIFO waits for a writer. Windows has neither. */
export const neverWaiting = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** Opens a file for reading; never waits. Throws what the file system throws, and UNREADABLE for what is no regular file. */
export async function openRegularFile(file: string): Promise<FileHandle> {
  const handle = await open(file, neverWaiting);
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(file);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** The same at once, as a descriptor. `isRegular` spares a question where the answer is known. */
export function openRegularFileSync(file: string, { isRegular = false }: { isRegular?: boolean } = {}): number {
  const descriptor = openSync(file, neverWaiting);
  if (isRegular) return descriptor;
  try {
    if (!fstatSync(descriptor).isFile()) throw notRegular(file);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

function notRegular(file: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} cannot be read: it is not a regular file.`, { facts: { path: file } });
}
