import { readdirSync, readFileSync } from "node:fs";
import { packageUrl } from "../../base/paths/location.ts";
import type { SkillsError } from "../../base/errors.ts";
import { DatabaseError, unusableCluster } from "./database-error.ts";
import type { Database, Queries } from "../database.ts";

/** One step of the schema: a file `NUMBER-NAME.sql`, which is never changed after its release. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The oldest schema whose programs still work after this step: they use nothing that it removes. */
  readonly oldest: number;
  readonly sql: string;
}

/** The number of the lock that lets one migration run at a time; it is arbitrary. */
const lock = 7_331_202_611;
const fileForm = /^(\d{3})-([a-z-]+)\.sql$/;
const oldestForm = /^-- oldest: (\d+)\n/;

/** Reads the steps that this version of the package knows, in order. */
export function knownMigrations(): readonly Migration[] {
  const directory = packageUrl("cluster/database/migrations/");
  return readdirSync(directory)
    .toSorted()
    .flatMap((file) => {
      const [, number, name = ""] = fileForm.exec(file) ?? [];
      if (number === undefined) return [];
      const sql = readFileSync(new URL(file, directory), "utf8");
      return [{ number: Number(number), name, oldest: Number(oldestForm.exec(sql)?.[1]), sql }];
    });
}

/**
 * Applies the missing steps, all or none. Returns their names; an empty list if none is missing. Throws INVALID_OPTIONS if the database is
 * newer than this package.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = knownMigrations(),
): Promise<readonly string[]> {
  return await database.transaction(async (queries) => {
    await queries.query("select pg_advisory_xact_lock($1)", [lock]);
    const before = await readSchema(queries);
    const newest = migrations.at(-1)?.number ?? 0;
    if (before !== undefined && before.number > newest) throw tooNew(before.number, newest);
    const missing = migrations.filter(({ number }) => number > (before?.number ?? 0));
    for (const { number, name, oldest, sql } of missing) {
      await runAll(queries, sql);
      await queries.query("insert into acp_skills.migrations (number, name, oldest) values ($1, $2, $3)", [
        number,
        name,
        oldest,
      ]);
    }
    return missing.map(({ number, name }) => `${number} ${name}`);
  });
}

/** Why this package cannot use the present schema of the database, as a sentence; undefined if it can. */
export async function schemaFault(
  queries: Queries,
  migrations: readonly Migration[] = knownMigrations(),
): Promise<string | undefined> {
  const own = migrations.at(-1)?.number ?? 0;
  const schema = await readSchema(queries);
  if (schema === undefined)
    return "The database has no tables of acp-skills yet: acp-skills cluster migrate creates them.";
  if (schema.number < own)
    return `The database has schema ${schema.number}, and this version of acp-skills needs ${own}: acp-skills cluster migrate changes it; servers of the version before go on meanwhile.`;
  return schema.oldest > own ? tooNew(schema.number, own).message : undefined;
}

/** Reads the newest step, and the oldest schema whose programs still work. Undefined before the first step. */
async function readSchema(queries: Queries): Promise<{ readonly number: number; readonly oldest: number } | undefined> {
  const [table] = await queries.query<{ found: boolean }>(
    "select to_regclass('acp_skills.migrations') is not null as found",
  );
  if (table?.found !== true) return undefined;
  const [row] = await queries.query<{ number: number; oldest: number }>(
    "select max(number) as number, max(oldest) as oldest from acp_skills.migrations having count(*) > 0",
  );
  return row;
}

function tooNew(found: number, own: number): SkillsError {
  return unusableCluster(
    `The database has schema ${found}, and this version of acp-skills knows ${own} only: update acp-skills here.`,
  );
}

/** Runs several statements in one message, which the driver accepts only without values. */
async function runAll(queries: Queries, sql: string): Promise<void> {
  try {
    await queries.query(sql);
  } catch (error) {
    if (error instanceof DatabaseError && error.state === "42501")
      throw unusableCluster(`The role may not change the database: ${error.message}`, error);
    throw error;
  }
}
