import type { Settings } from "../../runtime/options.ts";
import { migrate } from "../database.ts";
import { migrateQueue } from "../runs/job-queue.ts";
import { inCluster } from "./in-cluster.ts";

/**
 * Creates or changes the tables of the cluster that the settings name, including those of the job queue. Returns the names of the steps
 * that were missing. Rejects with INVALID_OPTIONS or ENDPOINT_UNREACHABLE.
 */
export async function migrateCluster(settings: Settings): Promise<readonly string[]> {
  return await inCluster(
    settings,
    async (database) => {
      const steps = await migrate(database);
      const queue = await database.query("select from pg_namespace where nspname = 'acp_skills_jobs'");
      await migrateQueue(database, settings.log);
      return queue.length > 0 ? steps : [...steps, "job queue"];
    },
    // Any schema is accepted.
    async (database) => await database.query("select 1").then(() => undefined),
  );
}
