import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SkillsError } from "../../base/errors.ts";
import type { SkillFiles } from "../files.ts";
import { permissionsOf } from "../permissions.ts";
import type { Skill } from "../skill.ts";
import { manifestName, readSkill } from "./read-directory.ts";

/** The content of a file of a skill, by its path in the skill; undefined for a file that is not one of its own. */
type ReadFile = (path: string) => Uint8Array | undefined;

/**
 * Whether a skill, as it was read once, declares what these files declare: its manifest, permissions and allowed tools. False where
 * what it declares is not in its own files, but behind a link to others.
 */
export async function declaresSame(skill: Skill, read: ReadFile): Promise<boolean> {
  const { directory, file, slug } = skill;
  const named = { kind: "file", link: false } as const;
  const entry = { ...named, name: basename(file) };
  if (read(entry.name) === undefined) return false;
  const files = filesOf(read);
  const manifest =
    read(manifestName) === undefined
      ? undefined
      : (await import("./scan/read-manifest-file.ts")).readManifestFile(files, directory, {
          ...named,
          name: manifestName,
        });
  const now = readSkill(files, { directory, expectedName: slug, entry, manifest }).skill;
  return now !== undefined && isDeepStrictEqual(declarationOf(now), declarationOf(skill));
}

function declarationOf(skill: Skill): unknown {
  return [skill.manifest, permissionsOf(skill), skill.allowedTools];
}

/** Only what is needed to read a skill whose files are known. */
function filesOf(read: ReadFile): SkillFiles {
  return {
    list: () => [],
    head(file, limit) {
      const bytes = read(basename(file));
      if (bytes === undefined) throw new SkillsError("UNREADABLE", `${file} is not a file of the skill.`);
      return { bytes: bytes.subarray(0, limit), whole: bytes.length < limit };
    },
    resolve: (target) => target,
  };
}
