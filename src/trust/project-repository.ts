import { lstatSync } from "node:fs";
import path from "node:path";
import type { Approvals } from "./grants/approvals.ts";

/**
 * Identifies the repository of a project independently of its path: by the inode and the time of birth of its git directory, without git of
 * the project's directory. Not by the device, whose number may change when a machine starts. Undefined if there is none.
 */
export function repositoryAt(project: string): string | undefined {
  for (const place of [path.join(project, ".git"), project]) {
    try {
      const { ino, birthtimeNs } = lstatSync(place, { bigint: true });
      return `${ino}-${birthtimeNs}`;
    } catch {
      // The next place: a bare repository and a directory without git have no `.git`.
    }
  }
  return undefined;
}

/** What counts of the approvals of a project's path: of those for another repository, which was there before, only the blocks. */
export function ofRepository(approvals: Approvals, repository: string | undefined): Approvals {
  if (approvals.project === undefined || (repository !== undefined && approvals.repository === repository))
    return approvals;
  const { format, project, blocks } = approvals;
  return { format, project, ...(repository !== undefined && { repository }), grants: [], blocks };
}
