import type { Settings } from "../../runtime/options.ts";
import { parseClusterUrl } from "../database.ts";
import { packagesMissing } from "../database/database-error.ts";
import { inCluster } from "./in-cluster.ts";

/** Whether this machine can join a cluster, and the obstacles. */
export interface ClusterExamination {
  readonly usable: boolean;
  /** The URL of the database without password; undefined if it cannot be parsed. */
  readonly database?: string;
  readonly schema?: number;
  /** The obstacles, each as a sentence. */
  readonly faults: readonly string[];
}

/** Checks what a member of a cluster needs: Node, the packages, the database and its schema. Never rejects. */
export async function examineCluster(settings: Settings): Promise<ClusterExamination> {
  let database: string | undefined;
  try {
    database = parseClusterUrl(settings.cluster ?? "").label;
    const [row] = await inCluster(settings, (opened) =>
      opened.query<{ number: number }>("select max(number) as number from acp_skills.migrations"),
    );
    await import("pg-boss").catch(packagesMissing);
    return { usable: true, database, ...(row && { schema: row.number }), faults: [] };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { usable: false, ...(database !== undefined && { database }), faults: [fault] };
  }
}
