import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { directoryReplaced, identityOf, isSameDirectory } from "../../base/paths/directory-identity.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import { SkillsError } from "../../errors.ts";
import type { SandboxProject } from "../../sandbox/sandbox.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunSpec } from "../run-spec.ts";
import type { RunMeans } from "./prepare-run.ts";

type ProjectCaller = Pick<RunCaller, "project" | "projectIdentity"> & {
  readonly skills: Pick<RunCaller["skills"], "ownPlaces">;
};

/**
 * The session's directory as a run mounts it: exactly the directory that it was when the session was opened; undefined where the run
 * needs none. No run changes the user's own skills, which its grants are for: where they are in the project they are kept, and a
 * project inside of them is not writable. Throws PERMISSION_DENIED.
 */
export function projectOf(
  { skill, needs }: Pick<RunSpec, "skill" | "needs">,
  { project: directory, projectIdentity, skills }: ProjectCaller,
  { refuseProject }: Pick<RunMeans, "refuseProject">,
): SandboxProject | undefined {
  if (skill === undefined || needs.project === "none") return undefined;
  if (directory === undefined)
    throw denied(
      `The skill ${skill.name} needs a project, and this call has none.`,
      "Call it in a session with a directory.",
    );
  const refusal = refuseProject(directory);
  if (refusal !== undefined)
    throw denied(
      refusal,
      "The user can open the session in a subdirectory, or set ACP_SKILLS_HOME to another directory.",
    );
  const root = realPathOf(directory);
  const identity = identityOf(root);
  if (projectIdentity !== undefined && !isSameDirectory(identity, projectIdentity)) throw directoryReplaced(directory);
  const project = { directory, writable: needs.project === "write", identity };
  if (!project.writable) return project;
  // As they are spelled, too: a link could be replaced by something that it does not lead to.
  const places = [...new Set(skills.ownPlaces().flatMap((place) => [place, realPathOf(place)]))];
  const around = places.find((place) => isWithin(root, place));
  if (around !== undefined)
    throw denied(
      `The skill ${skill.name} may write to the project, and the project is inside ${around}, which holds the user's own skills.`,
      "The user can open the session in another directory, or name directories inside of it with --skills.",
    );
  const inside = (place: string): string[] =>
    [root, directory].filter((top) => isWithin(place, top)).map((top) => relative(top, place).split(sep).join("/"));
  const kept = [...new Set(places.flatMap(inside))];
  const isBelow = (one: string): boolean => kept.some((other) => one.startsWith(`${other}/`));
  return { ...project, kept: kept.filter((one) => !isBelow(one)) };
}

function denied(message: string, hint: string): SkillsError {
  return new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Whoever uses it reports why.
  }
}
