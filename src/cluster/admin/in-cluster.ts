import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { Settings } from "../../runtime/options.ts";
import type { Database } from "../database.ts";
import { isOutage } from "../database/database-error.ts";
import { connectCluster } from "../open-cluster.ts";

/**
 * The result of work with the database of the cluster that the settings name; `faultOf`: see `connectCluster`. Rejects with INVALID_OPTIONS
 * where it cannot be used or refuses, with ENDPOINT_UNREACHABLE in an outage, and with errors of ours.
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
