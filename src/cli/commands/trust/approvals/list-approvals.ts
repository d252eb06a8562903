import path from "node:path";
import { SkillsError } from "../../../../base/errors.ts";
import { asAvailable, nearest } from "../../../../base/text/nearest.ts";
import { inWords, noCapabilities } from "../../../../skills/permissions.ts";
import { changesOf } from "../../../../skills/files.ts";
import { shortDigest } from "../../../../skills/hash.ts";
import { table } from "../../../report/table.ts";
import { labelled, safeText } from "../../../report/safe-text.ts";
import type { Approving } from "../approvals.ts";
import { installedSkill } from "./find-installed.ts";
import { imported } from "./record-changes.ts";
import { type ApprovalStore, type Approvals, type ApprovalScope, projectOf } from "../../../../runtime/trust.ts";
import { type ExitCode, exit } from "../../../exit-code.ts";
import { isWithin } from "../../../../base/paths/location.ts";

export async function listApprovals({ options, store, terminal }: Approving): Promise<ExitCode> {
  const approvals = await readApprovals(store);
  if (options.json === true) await terminal.printJson({ approvals });
  else if (approvals.length === 0) terminal.note("nothing is approved or blocked");
  else await terminal.print(table(heading, approvals.map(toRow), terminal));
  return exit.done;
}

const heading = ["SKILL", "VERSION", "DIGEST", "WHERE", "BY", "WHEN", "ID", "WHAT"];

function toRow(approval: Approval): readonly string[] {
  const { skill, version, digest, project, who, when, via, id } = approval;
  const by = via === imported ? `${who} (imported)` : who;
  const texts = [skill, version, digest === null ? "" : shortDigest(digest), project ?? "everywhere", by, when, id];
  return [...texts, whatOf(approval)].map((text) => safeText(text ?? ""));
}

function whatOf({ type, capabilities, called_by: by, from, expires }: Omit<Approval, "who" | "when" | "via">): string {
  if (type === "trusted-project") return "models may read its skills";
  if (type === "block")
    return `blocked (${from === "own" ? "your own" : from === "remote" ? "from a source" : "of the project"})`;
  const words = capabilities === null ? [] : inWords(capabilities);
  return [
    words.length === 0 ? "may run in its sandbox" : words.join(", "),
    ...(by === null ? [] : [`when ${by.skill} (${shortDigest(by.digest)}) calls it`]),
    ...(expires === null ? [] : [`until ${expires}`]),
  ].join(", ");
}

/** Prints everything about one skill or grant, and which files of the approved version have changed since. */
export async function showApproval(given: Approving): Promise<ExitCode> {
  const { targets, options, store, terminal } = given;
  const [target = ""] = targets;
  const all = await readApprovals(store);
  const found = all.filter((approval) => isNamedApproval(approval, target));
  if (found.length === 0) throw new SkillsError("SKILL_NOT_FOUND", nothingNamed(target, all));
  const shown = [];
  for (const approval of found) {
    const { digest, skill } = approval;
    // The approved skill may be gone.
    const installed = skill === null ? undefined : await installedSkill(skill, given).catch(() => undefined);
    const copy = digest === null ? undefined : await store.readCopy(digest);
    const isCurrent = digest === null ? null : (installed?.some((one) => one.digest === digest) ?? false);
    const newest = installed?.[0];
    const changed =
      isCurrent !== false || copy === undefined || newest === undefined
        ? []
        : changesOf(copy, await newest.files()).map(({ path }) => path);
    shown.push({ ...approval, installed: isCurrent, changed });
  }
  if (options.json === true) await terminal.printJson({ approvals: shown });
  else {
    const fact = labelled(terminal.paint, 11);
    for (const { who, when, via, installed, changed, ...approval } of shown)
      await terminal.print([
        ...(["skill", "version", "digest", "id"] as const).map((label) => fact(label, approval[label] ?? "")),
        fact("what", whatOf(approval)),
        fact("where", approval.project ?? "everywhere"),
        fact("by", `${who}, ${when}, ${via}`),
        fact("installed", installed === null ? "" : installed ? "yes" : "another version, or none"),
        fact("changed", changed.join(", ")),
        "\n",
      ]);
  }
  return exit.done;
}

function nothingNamed(target: string, all: readonly Approval[]): string {
  const names = [...new Set(all.flatMap(({ skill }) => skill ?? []))];
  const [near] = nearest(target, names, asAvailable);
  return `no approval of ${target}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** One answer of the user, with the scope in which it holds; `from`: the skills of the name that a block is for. */
type Approval = ReturnType<typeof toApprovals>[number];

/** All answers, in the order of their scopes, the oldest first. */
export async function readApprovals(store: ApprovalStore): Promise<readonly Approval[]> {
  const scopes = await store.scopes();
  const read = await Promise.all(scopes.map(async (scope) => toApprovals(await store.read(scope))));
  return read.flat();
}

function toApprovals({ project, grants, blocks, trusted }: Approvals) {
  const scope = project === undefined ? ("everywhere" as const) : ("project" as const);
  const nothing = {
    ...{ id: null, skill: null, version: null, digest: null, capabilities: null, called_by: null, from: null },
    ...{ expires: null, scope, project: project ?? null },
  } as const;
  return [
    ...(trusted === undefined ? [] : [{ ...nothing, type: "trusted-project" as const, ...trusted }]),
    ...grants.map(({ calledBy, ...grant }) => ({
      ...nothing,
      type: "grant" as const,
      ...grant,
      capabilities: { ...noCapabilities, ...grant.capabilities },
      called_by: calledBy ?? null,
    })),
    ...blocks.map((block) => ({ ...nothing, type: "block" as const, ...block })),
  ];
}

/** Whether `target` names the approval: by its id, or by the name or slug of its skill. */
export function isNamedApproval({ id, skill }: Pick<Approval, "id" | "skill">, target: string): boolean {
  return id === target || (skill !== null && skill.replaceAll(".", "-") === target.replaceAll(".", "-"));
}

/** Removes grants and blocks by id or name, or the trust in a project. */
export async function revokeApprovals(given: Approving): Promise<ExitCode> {
  return await remove(given, () => true);
}

/** Removes blocks only; earlier approvals count again. */
export async function unblockSkills(given: Approving): Promise<ExitCode> {
  return await remove(given, ({ type }) => type === "block");
}

async function remove(given: Approving, isOfKind: (approval: Approval) => boolean): Promise<ExitCode> {
  const { targets, options, store, terminal } = given;
  const all = (await readApprovals(store)).filter(isOfKind);
  const directory = path.resolve(terminal.cwd, options.cwd ?? ".");
  const projects = (["shared", "separate"] as const).map((worktrees) => projectOf(directory, worktrees, terminal.home));
  // The block of a project's skill may be stored for a directory above.
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
    const projects = [...new Set(others.map(({ project }) => project))].join(", ");
    terminal.note(
      others.length === 0
        ? nothingNamed(target, all)
        : `${target} is approved or blocked in other projects only (${projects}): name the ID, or add --all`,
    );
  }
  if (options.project === true && found.length === 0) terminal.note(`${directory} is not trusted`);
  for (const project of new Set(found.map((approval) => approval.project))) {
    const scope: ApprovalScope = project === null ? "everywhere" : { project };
    const here = found.filter((approval) => approval.project === project);
    const ids = new Set(here.flatMap(({ id }) => id ?? []));
    const blocked = new Set(here.flatMap(({ type, skill }) => (type === "block" ? [skill] : [])));
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
        : `revoked ${type === "grant" ? id : "the block"} of ${what}, ${project === null ? "everywhere" : `in ${project}`}`,
    );
  }
  if (options.json === true) await terminal.printJson({ revoked: found });
  return found.length === 0 || missing.length > 0 ? exit.unable : exit.done;
}
