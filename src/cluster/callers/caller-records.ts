import { SkillsError } from "../../base/errors.ts";
import { readCallerSettings } from "../../serve/read-config.ts";
import { newToken, toTokenDigest } from "../../wire/http.ts";
import type { Database, Queries } from "../database.ts";
import { insertLedgerRow } from "../ledger.ts";

/** A caller as operators see it. Times are milliseconds since 1970. */
interface KnownCallerRow {
  readonly name: string;
  /** The settings as in the configuration of a server, without name and token. */
  readonly settings: unknown;
  readonly tokens: readonly {
    /** The SHA-256 of the token, in hexadecimal. */
    readonly digest: string;
    readonly createdAt: number;
    readonly expiresAt: number | null;
    readonly isExpired: boolean;
  }[];
}

/** The commands of operators for callers and tokens. Each change adds a ledger row. Rejects with INVALID_OPTIONS or database errors. */
export interface CallerRecords {
  list(): Promise<readonly KnownCallerRow[]>;
  /** Adds a caller, or replaces its settings. Resolves with whether the caller is new. */
  add(name: string, settings: object): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** Returns a new token, of which only the digest is stored. `days`: null if the token never expires. */
  newToken(name: string, days: number | null): Promise<string>;
  /** Returns a new token with the lifetime of the newest one. The others end after at most `overlapHours`. */
  rotate(name: string, overlapHours: number): Promise<string>;
  /** Revokes all tokens of a caller, or the one whose digest starts with this text. Returns how many were revoked. */
  revoke(nameOrDigest: string): Promise<number>;
}

const maxCallers = 1_000;
const maxTokens = 10;
/** The minimum number of hexadecimal digits that identify a token. */
const minPrefixLength = 8;

/** Opens the records of callers in a database. `who`: the user of this process, for the ledger. */
export function openCallerRecords(database: Database, who: string): CallerRecords {
  return {
    list: () => listCallers(database),
    add: (name, settings) =>
      database.transaction(async (queries) => {
        const isNew = await writeCaller(queries, name, settings);
        await note(queries, who, `${isNew ? "added" : "changed"} the caller ${name}: ${JSON.stringify(settings)}`);
        return isNew;
      }),
    remove: (name) =>
      database.transaction(async (queries) => {
        await lockCaller(queries, name);
        await queries.query("delete from acp_skills.callers where name = $1", [name]);
        await note(queries, who, `removed the caller ${name}`);
      }),
    newToken: (name, days) =>
      database.transaction(async (queries) => {
        await lockCaller(queries, name);
        const token = await addToken(queries, name, days === null ? null : days * 86_400);
        await note(queries, who, `gave a token to the caller ${name}`);
        return token;
      }),
    rotate: (name, overlapHours) =>
      database.transaction(async (queries) => {
        await lockCaller(queries, name);
        const [newest] = await queries.query<{ seconds: number | null }>(
          `select extract(epoch from expires_at - created_at)::float8 as seconds
           from acp_skills.tokens where caller = $1 order by created_at desc limit 1`,
          [name],
        );
        await queries.query(
          `update acp_skills.tokens set expires_at = least(expires_at, now() + make_interval(secs => $2))
           where caller = $1`,
          [name, overlapHours * 3_600],
        );
        const token = await addToken(queries, name, newest?.seconds ?? null);
        await note(queries, who, `replaced the tokens of the caller ${name}, which end in ${overlapHours} h`);
        return token;
      }),
    revoke: (nameOrDigest) =>
      database.transaction(async (queries) => {
        const digest = nameOrDigest.toLowerCase().replace(/^sha256:/, "");
        const gone = await queries.query<{ caller: string }>(
          `delete from acp_skills.tokens where caller = $1 or (
             not exists (select from acp_skills.callers where name = $1)
             and length($2) >= $3 and starts_with(encode(digest, 'hex'), $2)) returning caller`,
          [nameOrDigest, digest, minPrefixLength],
        );
        const [first] = gone;
        if (first === undefined || (gone.length > 1 && first.caller !== nameOrDigest))
          throw refuse(
            `${nameOrDigest} is neither a caller with tokens nor the start (at least ${minPrefixLength} digits) of the digest of exactly one token`,
          );
        await note(queries, who, `revoked tokens of the caller ${first.caller}: ${gone.length}`);
        return gone.length;
      }),
  };
}

function refuse(message: string): SkillsError {
  return new SkillsError("INVALID_OPTIONS", message);
}

async function note(queries: Queries, caller: string, about: string): Promise<void> {
  await insertLedgerRow(queries, { at: Date.now(), event: "caller", tool: "cluster", caller, about, door: "cli" });
}

async function listCallers(queries: Queries): Promise<readonly KnownCallerRow[]> {
  const rows = await queries.query<{ name: string; settings: string; tokens: string }>(
    `select c.name, c.settings, coalesce((
       select json_agg(json_build_object(
         'digest', encode(digest, 'hex'), 'createdAt', round(extract(epoch from created_at) * 1000),
         'expiresAt', round(extract(epoch from expires_at) * 1000),
         'isExpired', coalesce(expires_at <= now(), false)) order by created_at)
       from acp_skills.tokens where caller = c.name), '[]')::text as tokens
     from acp_skills.callers c order by c.name`,
  );
  return rows.map(({ name, settings, tokens }) => ({
    name,
    settings: JSON.parse(settings) as unknown,
    tokens: JSON.parse(tokens) as KnownCallerRow["tokens"],
  }));
}

async function writeCaller(queries: Queries, name: string, settings: object): Promise<boolean> {
  try {
    readCallerSettings(name, settings);
  } catch (error) {
    throw refuse(`${name} cannot be a caller: ${error instanceof Error ? error.message : String(error)}`);
  }
  const [row] = await queries.query<{ callers: number; known: boolean | null }>(
    "select count(*)::float8 as callers, bool_or(name = $1) as known from acp_skills.callers",
    [name],
  );
  const isNew = row?.known !== true;
  if (isNew && (row?.callers ?? 0) >= maxCallers) throw refuse(`there are ${maxCallers} callers, the limit`);
  await queries.query(
    `insert into acp_skills.callers (name, settings) values ($1, $2)
     on conflict (name) do update set settings = excluded.settings, changed_at = now()`,
    [name, JSON.stringify(settings)],
  );
  return isNew;
}

/** Locks a caller, so that its tokens change one at a time. Throws INVALID_OPTIONS if there is no such caller. */
async function lockCaller(queries: Queries, name: string): Promise<void> {
  const rows = await queries.query("select from acp_skills.callers where name = $1 for update", [name]);
  if (rows.length === 0) throw refuse(`there is no caller ${name}; acp-skills cluster callers list shows them`);
}

/** Adds a token, valid for `seconds` or, if null, for ever. Removes expired ones. Throws INVALID_OPTIONS at the limit. */
async function addToken(queries: Queries, name: string, seconds: number | null): Promise<string> {
  await queries.query("delete from acp_skills.tokens where caller = $1 and expires_at <= now()", [name]);
  const token = newToken();
  const added = await queries.query(
    `insert into acp_skills.tokens (digest, caller, expires_at) select $1, $2, now() + make_interval(secs => $3)
     where (select count(*) from acp_skills.tokens where caller = $2) < $4 returning 1 as one`,
    [toTokenDigest(token), name, seconds, maxTokens],
  );
  if (added.length === 0)
    throw refuse(`${name} has ${maxTokens} tokens, the limit; acp-skills cluster tokens revoke removes one`);
  return token;
}
