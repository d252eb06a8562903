import { lstatSync } from "node:fs";
import path from "node:path";
import { isRepository } from "./project-of.ts";
import type { Approvals } from "./grants/approvals.ts";

/**
 * Identifies the repository of a project independently of its path: by the inode and the time of birth of its git directory, without git of
 * the project's directory. Not by the device, whose number may change when a machine starts. Undefined if there is none.
 */
export function repositoryAt(project: string): string | undefined {
  const git = path.join(project, ".git");
  try {
    // A bare repository and a directory without git have no `.git`.
    const { ino, birthtimeNs } = lstatSync(isRepository(git) ? git : project, { bigint: true });
    return `${ino}-${birthtimeNs}`;
  } catch {
    return undefined; // Missing.
  }
}

/** What counts of the approvals of a project's path: of those for another repository, which was there before, only the blocks. */
export function ofRepository(approvals: Approvals, repository: string | undefined): Approvals {
  if (approvals.project === undefined || (repository !== undefined && approvals.repository === repository))
    return approvals;
  const { format, project, blocks } = approvals;
  return { format, project, ...(repository !== undefined && { repository }), grants: [], blocks };
}
