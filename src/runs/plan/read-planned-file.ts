import { hash, webcrypto } from "node:crypto";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import type { SkillSource } from "../../skills/files/skill-files.ts";
import type { HashedFile } from "../../skills/hash/hash-skill.ts";

/** A file of a skill, with exactly the bytes that were hashed; undefined if it has others now, or is gone. */
export function readPlannedFile(
  source: SkillSource,
  directory: string,
  file: HashedFile,
): Uint8Array<ArrayBuffer> | undefined {
  const content = readFile(source, directory, file);
  return content !== undefined && hash("sha256", content, "hex") === file.sha256 ? content : undefined;
}

/** From this size on, hashing on another thread while the file is written costs less than it saves. */
const largeFile = 32 * 1024;

/** The same for copying: a large file is hashed while its reader writes it. Throws `changed()` at the end if it has other bytes. */
export async function* streamPlannedFile(
  source: SkillSource,
  directory: string,
  file: HashedFile,
  changed: () => Error,
): AsyncGenerator<Uint8Array, void> {
  const isLarge = file.size_bytes >= largeFile;
  const content = isLarge ? readFile(source, directory, file) : readPlannedFile(source, directory, file);
  if (content === undefined) throw changed();
  if (!isLarge) return yield content;
  const digest = webcrypto.subtle.digest("SHA-256", content);
  // Awaited below, unless the reader stops.
  digest.catch(() => undefined);
  yield content;
  if (Buffer.from(await digest).toString("hex") !== file.sha256) throw changed();
}

function readFile(
  { files, bytes }: SkillSource,
  directory: string,
  { path, size_bytes: size }: HashedFile,
): Uint8Array<ArrayBuffer> | undefined {
  const place = path.split("/").reduce(joinPath, directory);
  let content = bytes.head(place, size)?.bytes;
  if (content === undefined) {
    // A file may be a link to another one of the skill.
    const real = files.resolve(place);
    content = real !== undefined && isWithin(real, directory) ? bytes.head(real, size)?.bytes : undefined;
  }
  return content as Uint8Array<ArrayBuffer> | undefined;
}
