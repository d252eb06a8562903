import { attempt } from "../base/failures/system-error.ts";
import { diskSkillBytes } from "../skills/files.ts";

const disk = diskSkillBytes();

/** Reads a file by its real path. Undefined if it is larger than `maxBytes` bytes, unreadable, no file, or a link leads to it. */
export function readPlain(file: string, maxBytes: number): Buffer | undefined {
  const part = attempt(() => disk.head(file, maxBytes), undefined);
  return part !== undefined && part.size <= maxBytes ? Buffer.from(part.bytes) : undefined;
}
