import { hash } from "node:crypto";
import type { SkillFiles } from "../skills/skill-files.ts";
import type { SkillBytes } from "./skill-bytes.ts";

/** The bytes of skills in memory. Their content is their stamp. */
export function memorySkillBytes(files: SkillFiles): SkillBytes {
  const read = (file: string): Uint8Array | undefined => {
    const real = files.resolve(file);
    return real === file && isFile(files, file) ? files.head(file, Infinity).bytes : undefined;
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

function isFile(files: SkillFiles, file: string): boolean {
  const cut = file.lastIndexOf("/");
  const entries = files.list(file.slice(0, cut) || "/");
  return entries.some(({ name, kind }) => name === file.slice(cut + 1) && kind === "file");
}
