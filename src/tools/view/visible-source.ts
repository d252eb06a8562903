import { dirname } from "node:path";
import { joinPath } from "../../base/paths/at-real-path.ts";
import type { SkillFiles, SkillSource } from "../../skills/files/skill-files.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";

/**
 * The files that one caller sees: none in the directory of a skill or version that is not visible, even if that directory is inside a
 * visible skill or reached by a link. A file belongs to the innermost skill that contains it.
 */
export function toVisibleSource(
  { files, bytes }: SkillSource,
  { skills }: Snapshot,
  visible: ((skill: Skill) => boolean) | undefined,
): SkillSource {
  if (visible === undefined) return { files, bytes };
  const isShown = new Map(
    skills.flatMap(({ versions }) => versions.map((skill) => [skill.directory, visible(skill)] as const)),
  );
  return { files: visibleFiles(files, isShown), bytes };
}

/** `isShown`: by the real path of each skill's directory. */
function visibleFiles(files: SkillFiles, isShown: ReadonlyMap<string, boolean>): SkillFiles {
  function isHidden(real: string): boolean {
    for (let place = real; ; place = dirname(place)) {
      const shown = isShown.get(place);
      if (shown !== undefined) return !shown;
      if (dirname(place) === place) return false;
    }
  }
  return {
    list: (directory) => files.list(directory).filter(({ name }) => isShown.get(joinPath(directory, name)) !== false),
    head: (file, limit) => files.head(file, limit),
    resolve(path) {
      const real = files.resolve(path);
      return real === undefined || isHidden(real) ? undefined : real;
    },
  };
}
