import type { ApprovalScope, Approvals } from "../../runtime/trust.ts";
import type { Queries } from "../database.ts";
import { SkillsError } from "../../base/errors.ts";
import { nothingApproved, parseApprovals } from "../../runtime/ports.ts";
import { blockKey, scopeKey, toScopeText } from "./approval-keys.ts";

/** A stored grant or block, whose value never changes. */
interface StoredValue {
  readonly number: number;
  readonly position: number;
  readonly value: string;
}

/** The approvals of a scope and their rows, read to be changed. */
interface StoredScope {
  readonly approvals: Approvals;
  readonly grants: readonly StoredValue[];
  readonly blocks: readonly StoredValue[];
}

/** Reads a scope within the transaction that changes it. Throws UNREADABLE for rows of other versions, which must not be replaced. */
export async function readScope(queries: Queries, scope: ApprovalScope): Promise<StoredScope> {
  const [row] = await queries.query<{ head: string }>(
    "select head from acp_skills.approval_scopes where person = session_user::text and scope_key = $1",
    [scopeKey(scope)],
  );
  if (row === undefined) return { approvals: nothingApproved(scope), grants: [], blocks: [] };
  const read = async (table: "grants" | "blocks"): Promise<readonly StoredValue[]> =>
    await queries.query(
      `select number::float8, position, value from acp_skills.${table}
       where person = session_user::text and scope_key = $1 order by position`,
      [scopeKey(scope)],
    );
  const [grants, blocks] = [await read("grants"), await read("blocks")];
  const values = (rows: readonly StoredValue[]): readonly string[] => rows.map(({ value }) => value);
  try {
    const approvals = toApprovals(scope, { head: row.head, grants: values(grants), blocks: values(blocks) });
    return { approvals, grants, blocks };
  } catch (error) {
    const message = `${unknownRows(scope, error)}; nothing can be stored there`;
    throw new SkillsError("UNREADABLE", message, { cause: error, facts: { hint: "Update acp-skills here." } });
  }
}

/** Parses the rows of a scope. Throws ZodError or SyntaxError for rows of other versions. */
export function toApprovals(
  scope: ApprovalScope,
  rows: { readonly head: string; readonly grants: readonly string[]; readonly blocks: readonly string[] },
): Approvals {
  const parse = (value: string): unknown => JSON.parse(value);
  const ofProject = scope === "everywhere" ? {} : { project: scope.project };
  const [grants, blocks] = [rows.grants.map(parse), rows.blocks.map(parse)];
  return parseApprovals({ ...(JSON.parse(rows.head) as object), ...ofProject, grants, blocks });
}

/** Returns a sentence, without its full stop, about rows of another version. */
export function unknownRows(scope: ApprovalScope, error: unknown): string {
  const reach = scope === "everywhere" ? "everywhere" : `the project ${JSON.stringify(scope.project)}`;
  return `The approvals for ${reach} in the cluster are of another version of acp-skills, so that no grant in them counts: ${toShortReason(error)}`;
}

export function toShortReason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}

/** Writes the rows that differ. */
export async function writeScope(
  queries: Queries,
  scope: ApprovalScope,
  { before, after }: { readonly before: StoredScope; readonly after: Approvals },
): Promise<void> {
  const { grants, blocks, ...head } = after;
  const toBytes = (hex: string): string => `\\x${hex}`;
  await queries.query(
    `insert into acp_skills.approval_scopes (person, scope_key, scope, head) values (session_user::text, $1, $2, $3)
     on conflict (person, scope_key) do update set head = excluded.head, revision = gen_random_uuid()`,
    [scopeKey(scope), toScopeText(scope), JSON.stringify(head)],
  );
  const grantRows = grants.map((grant) => {
    const { id, digest, expires } = grant;
    // An invalid time counts as expired.
    const until = expires === undefined ? {} : { expires_at: new Date(Date.parse(expires) || 0) };
    return { id, digest: toBytes(digest.replace("sha256:", "")), ...until, value: JSON.stringify(grant) };
  });
  await writeRows(queries, scope, ["grants", "id, digest, expires_at"], before.grants, grantRows);
  const blockRows = blocks.map((block) => {
    const key = blockKey(scope, block.skill, block.from).toString("hex");
    return { block_key: toBytes(key), value: JSON.stringify(block) };
  });
  await writeRows(queries, scope, ["blocks", "block_key"], before.blocks, blockRows);
}

/** Deletes rows that are gone and inserts new ones. Rows that stay in order are not written, so that whoever waits for one finds it. */
async function writeRows(
  queries: Queries,
  scope: ApprovalScope,
  [table, columns]: readonly [table: string, columns: string],
  before: readonly StoredValue[],
  after: readonly { readonly value: string }[],
): Promise<void> {
  let same = 0;
  const gone: number[] = [];
  for (const { number, value } of before)
    if (value === after[same]?.value) same++;
    else gone.push(number);
  const next = (before.at(-1)?.position ?? -1) + 1;
  const added = after.slice(same).map((row, index) => ({ ...row, position: next + index }));
  await queries.query(
    `delete from acp_skills.${table} where person = session_user::text and number = any($1::bigint[])`,
    [gone],
  );
  await queries.query(
    `insert into acp_skills.${table} (person, scope_key, position, value, ${columns})
     select session_user::text, $1, position, value, ${columns} from json_populate_recordset(null::acp_skills.${table}, $2)`,
    [scopeKey(scope), JSON.stringify(added)],
  );
}
