import path from "node:path";
import { type ApprovalScope, projectOf } from "../../../../runtime/trust.ts";
import { isWithin } from "../../../../base/paths/location.ts";
import { type Approval, isNamedApproval, readApprovals } from "./approval-rows.ts";
import type { Approving } from "../approvals.ts";
import { nothingNamed } from "./list-approvals.ts";

/** Removes grants and blocks by id or name, or the trust in a project. */
export async function revokeApprovals(given: Approving): Promise<number> {
  return await remove(given, () => true);
}

/** Removes blocks only: what was approved counts again. */
export async function unblockSkills(given: Approving): Promise<number> {
  return await remove(given, ({ type }) => type === "block");
}

async function remove(given: Approving, isOfKind: (approval: Approval) => boolean): Promise<number> {
  const { targets, options, store, terminal } = given;
  const all = (await readApprovals(store)).filter(isOfKind);
  const directory = path.resolve(terminal.cwd, options.cwd ?? ".");
  const projects = (["shared", "separate"] as const).map((worktrees) => projectOf(directory, worktrees, terminal.home));
  // A block of a skill of a project may be at a directory above.
  const isHere = ({ type, project }: Approval): boolean =>
    project === null || projects.includes(project) || (type === "block" && isWithin(directory, project));
  const isMeant = (approval: Approval): boolean =>
    options.project === true
      ? approval.type === "trusted-project" && projects.includes(approval.project ?? "")
      : targets.some((target) =>
          approval.id === target
            ? true
            : isNamedApproval(approval, target) && (options.all === true || isHere(approval)),
        );
  const found = all.filter(isMeant);
  const missing = targets.filter((target) => !found.some((approval) => isNamedApproval(approval, target)));
  for (const target of missing) {
    const others = all.filter((approval) => isNamedApproval(approval, target));
    const places = [...new Set(others.map(({ project }) => project))].join(", ");
    terminal.note(
      others.length === 0
        ? nothingNamed(target, all)
        : `${target} is approved or blocked in other projects only (${places}): name the ID, or add --all`,
    );
  }
  if (options.project === true && found.length === 0) terminal.note(`${directory} is not trusted`);
  for (const project of new Set(found.map((approval) => approval.project))) {
    const scope: ApprovalScope = project === null ? "everywhere" : { project };
    const here = found.filter((approval) => approval.project === project);
    const ids = new Set(here.flatMap(({ id }) => id ?? []));
    const blocked = new Set(here.flatMap(({ type, skill }) => (type === "block" && skill !== null ? [skill] : [])));
    await store.change(scope, ({ trusted, ...before }) => ({
      ...before,
      grants: before.grants.filter(({ id }) => !ids.has(id)),
      blocks: before.blocks.filter(({ skill }) => !blocked.has(skill)),
      ...(trusted !== undefined && options.project !== true && { trusted }),
    }));
  }
  for (const { id, skill, type, project } of found) {
    const what = skill ?? project ?? "";
    terminal.note(
      type === "trusted-project"
        ? `models may no longer read the skills that came with ${what}`
        : `revoked ${type === "grant" ? (id ?? "") : "the block"} of ${what}, ${project === null ? "everywhere" : `in ${project}`}`,
    );
  }
  if (options.json === true) await terminal.printJson({ revoked: found });
  return found.length === 0 || missing.length > 0 ? 1 : 0;
}
