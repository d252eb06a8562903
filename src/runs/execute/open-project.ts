import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { identityOf, isSameDirectory } from "../../base/directory-identity.ts";
import { isWithin } from "../../base/is-within.ts";
import type { SandboxProject } from "../../sandbox/sandbox.ts";
import { projectReplaced } from "../../tools/project/project-refusal.ts";
import { SkillsError } from "../../errors.ts";
import type { Skill } from "../../skills/skill.ts";
import type { RunCaller } from "../runs.ts";

/**
 * A session's directory as a run gets it: exactly the directory that it was when the session was opened. A grant is to the code of the
 * person's own skills as the person left it, so that no run changes such code: where it lies in the project it is kept, and a project
 * that lies in it is not written. Throws PERMISSION_DENIED.
 */
export function openProject(
  skill: Skill,
  directory: string,
  { projectIdentity, ownPlaces, writable }: Pick<RunCaller, "projectIdentity" | "ownPlaces"> & { writable: boolean },
): SandboxProject {
  const root = realPathOf(directory);
  const identity = identityOf(root);
  if (projectIdentity !== undefined && !isSameDirectory(identity, projectIdentity)) throw projectReplaced(directory);
  const project = { directory, writable, identity };
  if (!writable) return project;
  // As they are spelt, too: a link could be replaced by what it does not lead to.
  const places = [...new Set(ownPlaces().flatMap((place) => [place, realPathOf(place)]))];
  const around = places.find((place) => isWithin(root, place));
  if (around !== undefined) {
    const message = `The skill ${skill.name} may change the project, and the project lies in ${around}, with skills of the person's own.`;
    const hint = "A person can open the session in another directory, or name directories inside of it with --skills.";
    throw new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
  }
  const inside = (place: string): string[] =>
    [root, directory].filter((top) => isWithin(place, top)).map((top) => relative(top, place).split(sep).join("/"));
  const kept = [...new Set(places.flatMap(inside))];
  const isBelow = (one: string): boolean => kept.some((other) => one.startsWith(`${other}/`));
  return { ...project, kept: kept.filter((one) => !isBelow(one)) };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Whoever uses it tells why.
  }
}
