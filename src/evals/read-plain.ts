import { attempt } from "../base/failures/system-error.ts";
import { diskSkillBytes } from "../skills/files.ts";

const disk = diskSkillBytes();

/** Reads a file by its real path. Undefined if it is larger than `most` bytes, unreadable, no file, or a link leads to it. */
export function readPlain(file: string, most: number): Buffer | undefined {
  const part = attempt(() => disk.head(file, most), undefined);
  return part !== undefined && part.size <= most ? Buffer.from(part.bytes) : undefined;
}
