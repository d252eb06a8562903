import { hash } from "node:crypto";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import { isWithin } from "../../../base/paths/is-within.ts";
import type { SkillSource } from "../../../skills/files.ts";
import type { HashedFile } from "../../../skills/hash.ts";

/** A file of a skill, with exactly the bytes that were hashed; undefined if it has others now, or is gone. */
export function readPlannedFile(
  { files, bytes }: SkillSource,
  directory: string,
  { path, size_bytes: size, sha256 }: HashedFile,
): Uint8Array | undefined {
  const place = path.split("/").reduce(joinPath, directory);
  let content = bytes.head(place, size)?.bytes;
  if (content === undefined) {
    // A file may be a link to another one of the skill.
    const real = files.resolve(place);
    content = real !== undefined && isWithin(real, directory) ? bytes.head(real, size)?.bytes : undefined;
  }
  return content !== undefined && hash("sha256", content, "hex") === sha256 ? content : undefined;
}
