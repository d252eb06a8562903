import type { SkillFiles } from "./skill-files.ts";
import type { SkillBytes } from "./skill-bytes.ts";

/** Where the bytes of skills are. */
export interface SkillSource {
  readonly files: SkillFiles;
  readonly bytes: SkillBytes;
}
