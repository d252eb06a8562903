import type { ApprovalScope, Approvals } from "../../runtime/trust.ts";
import type { Queries } from "../database.ts";
import { nothingApproved, parseApprovals } from "../../runtime/ports.ts";
import { blockKey, scopeKey, toScopeText } from "./approval-keys.ts";

/** A stored grant or block. `number` identifies the row, which keeps its place as long as the value is there. */
export interface StoredValue {
  readonly number: number;
  readonly position: number;
  readonly value: string;
}

/** What a scope has, for a change of it. */
export interface StoredScope {
  readonly approvals: Approvals;
  readonly grants: readonly StoredValue[];
  readonly blocks: readonly StoredValue[];
}

/** Reads a scope within the transaction that changes it. Throws ZodError or SyntaxError for rows of other versions. */
export async function readScope(queries: Queries, scope: ApprovalScope): Promise<StoredScope> {
  const key = scopeKey(scope);
  const [[head], grants, blocks] = [
    await queries.query<{ head: string }>(
      "select head from acp_skills.approval_scopes where person = session_user::text and scope_key = $1",
      [key],
    ),
    await queries.query<StoredValue>(
      `select number::float8, position, value from acp_skills.grants
       where person = session_user::text and scope_key = $1 order by position`,
      [key],
    ),
    await queries.query<StoredValue>(
      `select number::float8, position, value from acp_skills.blocks
       where person = session_user::text and scope_key = $1 order by position`,
      [key],
    ),
  ];
  if (head === undefined) return { approvals: nothingApproved(scope), grants: [], blocks: [] };
  return { approvals: toApprovals(scope, { head: head.head, grants, blocks }), grants, blocks };
}

/** Throws ZodError or SyntaxError for rows of other versions. */
export function toApprovals(
  scope: ApprovalScope,
  rows: {
    readonly head: string;
    readonly grants: readonly Pick<StoredValue, "value">[];
    readonly blocks: readonly Pick<StoredValue, "value">[];
  },
): Approvals {
  const parsed = ({ value }: Pick<StoredValue, "value">): unknown => JSON.parse(value);
  const head = JSON.parse(rows.head) as object;
  const place = scope === "everywhere" ? {} : { project: scope.project };
  return parseApprovals({ ...head, ...place, grants: rows.grants.map(parsed), blocks: rows.blocks.map(parsed) });
}

/** What has to be done so that stored values become others, in their order. */
interface Difference {
  readonly gone: readonly number[];
  readonly moved: readonly { readonly number: number; readonly position: number }[];
  /** By the place in the list. */
  readonly added: readonly { readonly index: number; readonly position: number }[];
}

/** Rows that stay are never written again, unless the order demands it: who waits for one of them finds it. */
function differenceOf(before: readonly StoredValue[], after: readonly string[]): Difference {
  const known = new Map<string, StoredValue[]>();
  for (const row of before) known.set(row.value, [...(known.get(row.value) ?? []), row]);
  const rows = after.map((value) => known.get(value)?.shift());
  const gone = [...known.values()].flat().map(({ number }) => number);
  let next = Math.max(-1, ...before.map(({ position }) => position)) + 1;
  const places = rows.map((row) => row?.position ?? next++);
  const isInOrder = places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0));
  const placeOf = (index: number): number => (isInOrder ? (places[index] ?? 0) : index);
  return {
    gone,
    moved: rows.flatMap((row, index) =>
      row === undefined || row.position === placeOf(index) ? [] : [{ number: row.number, position: placeOf(index) }],
    ),
    added: rows.flatMap((row, index) => (row === undefined ? [{ index, position: placeOf(index) }] : [])),
  };
}

/** Writes what differs, in one statement. */
export async function writeScope(
  queries: Queries,
  scope: ApprovalScope,
  { before, after }: { readonly before: StoredScope; readonly after: Approvals },
): Promise<void> {
  const { grants, blocks, ...head } = after;
  const toText = (value: unknown): string => JSON.stringify(value);
  const ofGrants = differenceOf(before.grants, grants.map(toText));
  const ofBlocks = differenceOf(before.blocks, blocks.map(toText));
  const newGrants = ofGrants.added.flatMap(({ index, position }) => {
    const grant = grants[index];
    if (grant === undefined) return [];
    const { id, digest, expires } = grant;
    const at = expires === undefined ? undefined : Date.parse(expires);
    // What is no time has never been before it.
    const until = at === undefined || !Number.isNaN(at) ? at : 0;
    return [{ position, id, digest: digest.replace("sha256:", ""), until, value: toText(grant) }];
  });
  const newBlocks = ofBlocks.added.flatMap(({ index, position }) => {
    const block = blocks[index];
    if (block === undefined) return [];
    return [{ position, key: blockKey(scope, block.skill, block.from).toString("hex"), value: toText(block) }];
  });
  await queries.query(
    `with scope as (
       insert into acp_skills.approval_scopes (person, scope_key, scope, head)
       values (session_user::text, $1, $2, $3)
       on conflict (person, scope_key) do update set head = excluded.head, revision = gen_random_uuid()
     ), gone_grants as (
       delete from acp_skills.grants where person = session_user::text and number = any($4::bigint[])
     ), moved_grants as (
       update acp_skills.grants set position = moved.position
       from json_to_recordset($5::json) as moved (number bigint, position integer)
       where grants.number = moved.number and person = session_user::text
     ), new_grants as (
       insert into acp_skills.grants (person, scope_key, position, id, digest, expires_at, value)
       select session_user::text, $1, position, id, decode(digest, 'hex'), to_timestamp(until / 1000), value
       from json_to_recordset($6::json) as added (position integer, id text, digest text, until float8, value text)
     ), gone_blocks as (
       delete from acp_skills.blocks where person = session_user::text and number = any($7::bigint[])
     ), moved_blocks as (
       update acp_skills.blocks set position = moved.position
       from json_to_recordset($8::json) as moved (number bigint, position integer)
       where blocks.number = moved.number and person = session_user::text
     )
     insert into acp_skills.blocks (person, scope_key, position, block_key, value)
     select session_user::text, $1, position, decode(key, 'hex'), value
     from json_to_recordset($9::json) as added (position integer, key text, value text)`,
    [
      scopeKey(scope),
      toScopeText(scope),
      toText(head),
      ofGrants.gone,
      toText(ofGrants.moved),
      toText(newGrants),
      ofBlocks.gone,
      toText(ofBlocks.moved),
      toText(newBlocks),
    ],
  );
}
