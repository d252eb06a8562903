import { hash } from "node:crypto";
import { isSkillsError } from "../../errors.ts";
import type { SkillFiles } from "./skill-files.ts";
import type { SkillBytes } from "./skill-bytes.ts";

/** The bytes of skills in memory. The digest is the stamp. */
export function memorySkillBytes(files: SkillFiles): SkillBytes {
  const read = (file: string): Uint8Array | undefined => {
    try {
      return files.resolve(file) === file ? files.head(file, Infinity).bytes : undefined;
    } catch (error) {
      if (isSkillsError(error) && error.code === "UNREADABLE") return undefined;
      throw error;
    }
  };
  const sha256 = (file: string): string | undefined => {
    const bytes = read(file);
    return bytes && hash("sha256", bytes, "hex");
  };
  return {
    stamp(file) {
      const size = read(file)?.length;
      return size === undefined ? undefined : { size, version: sha256(file) };
    },
    head(file, limit) {
      const bytes = read(file);
      return bytes && { bytes: bytes.slice(0, limit), size: bytes.length };
    },
    sha256,
  };
}
