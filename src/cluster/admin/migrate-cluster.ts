import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { Settings } from "../../runtime/options.ts";
import { type Database, migrate } from "../database.ts";
import { connectCluster } from "../open-cluster.ts";
import { migrateQueue } from "../runs/job-queue.ts";

/** Where the job queue has its tables. */
const queueSchema = "acp_skills_jobs";

/**
 * Creates or changes the tables of the cluster that the settings name, those of the job queue included. Returns the names of the steps that
 * were missing. Rejects with INVALID_OPTIONS.
 */
export async function migrateCluster(settings: Settings): Promise<readonly string[]> {
  const database = await connectCluster(settings, 2, answers);
  try {
    const steps = await migrate(database);
    const before = await hasQueue(database);
    await migrateQueue(database, settings.log);
    return before ? steps : [...steps, "job queue"];
  } catch (error) {
    if (isSkillsError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillsError("INVALID_OPTIONS", `The database cannot be changed: ${reason}`, { cause: error });
  } finally {
    await database.close();
  }
}

/** Any schema will do. */
async function answers(database: Database): Promise<undefined> {
  await database.query("select 1");
  return undefined;
}

async function hasQueue(database: Database): Promise<boolean> {
  const rows = await database.query("select 1 from pg_namespace where nspname = $1", [queueSchema]);
  return rows.length > 0;
}
