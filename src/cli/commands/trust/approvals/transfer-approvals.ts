import { existsSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { isSkillsError } from "../../../../base/errors.ts";
import {
  type ApprovalScope,
  type ApprovalStore,
  type Approvals,
  ofRepository,
  parseApprovals,
  projectOf,
  repositoryAt,
} from "../../../../runtime/trust.ts";
import { usageError, type ExitCode, exit } from "../../../command.ts";
import { readNamedFile } from "../../../arguments/values.ts";
import { counted } from "../../../../base/text/code-points.ts";
import type { Terminal } from "../../../report/terminal.ts";
import type { Approving } from "../approvals.ts";
import { imported } from "./record-changes.ts";

const exported = z.strictObject({
  schemaVersion: z.literal(1).optional(),
  format: z.literal("acp-skills exported approvals 1"),
  exported: z.iso.datetime(),
  scopes: z
    .array(
      z.unknown().transform((scope, context) => {
        try {
          return parseApprovals(scope);
        } catch (error) {
          const [issue] = error instanceof z.ZodError ? error.issues : [];
          context.issues.push({
            code: "custom",
            message: issue?.message ?? String(error),
            path: issue?.path ?? [],
            input: scope,
          });
          return z.NEVER;
        }
      }),
    )
    .max(10_000),
});

export async function exportApprovals({ store, terminal }: Approving): Promise<ExitCode> {
  const scopes = await Promise.all((await store.scopes()).map((scope) => store.read(scope)));
  await terminal.printJson({
    format: "acp-skills exported approvals 1",
    exported: new Date().toISOString(),
    scopes,
  } satisfies z.input<typeof exported>);
  return exit.done;
}

const maxBytes = 32 * 1024 * 1024;

/** Adds the approvals that another machine exported. Expired ones, and projects that are not here, are skipped and reported. */
export async function importApprovals({ targets, options, store, terminal }: Approving): Promise<ExitCode> {
  const file = path.resolve(terminal.cwd, targets[0] ?? "");
  const { scopes } = readExported(file);
  const target = options["for-project"];
  const targetScope = target === undefined ? undefined : scopeFor(target, scopes, terminal);
  const now = Date.now();
  let [added, expired] = [0, 0];
  const absent: string[] = [];
  for (const { project: theirs, grants, blocks, trusted } of scopes) {
    const project = theirs === undefined ? undefined : (targetScope ?? theirs);
    if (project !== undefined && !existsSync(project)) {
      absent.push(project);
      continue;
    }
    const current = grants.filter(({ expires }) => expires === undefined || now < Date.parse(expires));
    expired += grants.length - current.length;
    const scope: ApprovalScope = project === undefined ? "everywhere" : { project };
    const count = await merge(store, scope, { grants: current, blocks, ...(trusted && { trusted }) });
    if (count > 0) terminal.note(`${counted(count, "answer")} for ${project ?? "everywhere"}`);
    added += count;
  }
  for (const project of absent)
    terminal.note(`${project} does not exist here; its approvals were not imported: --for-project DIR names another`);
  if (expired > 0) terminal.note(`${counted(expired, "answer")} expired, not imported`);
  terminal.note(`imported ${counted(added, "answer")}`);
  if (options.json === true) await terminal.printJson({ imported: added, expired, absent_projects: absent });
  return added === 0 && (expired > 0 || absent.length > 0) ? exit.unable : exit.done;
}

/** The project on this machine for the approvals of a file with one project. Throws INVALID_OPTIONS for any other file or directory. */
function scopeFor(
  directory: string,
  scopes: readonly Approvals[],
  { cwd, home }: Pick<Terminal, "cwd" | "home">,
): string {
  const projects = scopes.flatMap(({ project }) => project ?? []);
  const given = path.resolve(cwd, directory);
  if (!existsSync(given)) throw usageError(`--for-project ${directory}: no such directory`);
  if (projects.length !== 1)
    throw usageError(
      `--for-project is for a file with approvals of one project; this one has ${projects.length === 0 ? "none" : projects.join(", ")}`,
    );
  return projectOf(given, "shared", home);
}

/** Merges approvals into a scope, and returns how many answers are new. */
async function merge(
  store: ApprovalStore,
  scope: ApprovalScope,
  { grants, blocks, trusted }: Pick<Approvals, "grants" | "blocks" | "trusted">,
): Promise<number> {
  let added = 0;
  await store.change(scope, (stored) => {
    const before = scope === "everywhere" ? stored : ofRepository(stored, repositoryAt(scope.project));
    const ids = new Set(before.grants.map(({ id }) => id));
    const isNew = grants.filter(({ id }) => !ids.has(id)).map((grant) => ({ ...grant, via: imported }));
    const isBlocked = (block: Approvals["blocks"][number]): boolean =>
      before.blocks.some(({ skill, from }) => skill === block.skill && from === block.from);
    const newBlocks = blocks.filter((block) => !isBlocked(block)).map((block) => ({ ...block, via: imported }));
    const newTrust = before.trusted === undefined && trusted !== undefined ? { ...trusted, via: imported } : undefined;
    added = isNew.length + newBlocks.length + (newTrust === undefined ? 0 : 1);
    if (added === 0) return stored;
    return {
      ...before,
      grants: [...before.grants, ...isNew],
      blocks: [...before.blocks, ...newBlocks],
      ...(newTrust !== undefined && { trusted: newTrust }),
    };
  });
  return added;
}

/** Reads a file of exported approvals. Throws INVALID_OPTIONS that says what is wrong with the file. */
function readExported(file: string): z.output<typeof exported> {
  const fault = (what: string): Error => usageError(`${file}: ${what}; nothing was imported`);
  let value: unknown;
  try {
    value = JSON.parse(readNamedFile(file, maxBytes));
  } catch (error) {
    throw isSkillsError(error)
      ? usageError(`${error.message}; nothing was imported`)
      : fault(`not JSON (${String(error)})`);
  }
  const parsed = exported.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? "" : `/${issue.path.join("/")}: ${issue.message}`;
  throw fault(`not exported by acp-skills approvals export (${where})`);
}
