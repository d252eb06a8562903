import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { Settings } from "../../runtime/options.ts";
import type { Database } from "../database.ts";
import { isOutage } from "../database/database-error.ts";
import { connectCluster } from "../open-cluster.ts";

/**
 * Calls `work` with the database of the cluster that the settings name; for `faultOf` see `connectCluster`. Rejects with INVALID_OPTIONS
 * if the database is unusable or refuses, ENDPOINT_UNREACHABLE in an outage, and any SkillsError of `work`.
 */
export async function inCluster<Result>(
  settings: Settings,
  work: (database: Database) => Promise<Result>,
  faultOf?: Parameters<typeof connectCluster>[2],
): Promise<Result> {
  const database = await connectCluster(settings, 2, faultOf);
  try {
    return await work(database);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const code = isOutage(error) ? "ENDPOINT_UNREACHABLE" : "INVALID_OPTIONS";
    throw new SkillsError(code, `The database of the cluster failed: ${reason}`, { cause: error });
  } finally {
    await database.close();
  }
}
