import type { Settings } from "../../runtime/options.ts";
import { parseClusterUrl } from "../database.ts";
import { clusterNodeFault } from "../open-cluster.ts";
import { inCluster } from "./in-cluster.ts";

/** Whether this machine can be part of a cluster. */
export interface ClusterExamination {
  readonly usable: boolean;
  /** The URL without password; undefined where it cannot be parsed. */
  readonly database?: string;
  readonly schema?: number;
  /** What is in the way, each as a sentence. */
  readonly faults: readonly string[];
}

/** Tries all that a cluster needs: Node, the packages, the database and its schema. Never rejects. */
export async function examineCluster(settings: Settings): Promise<ClusterExamination> {
  const node = clusterNodeFault();
  const faults = node === undefined ? [] : [node];
  // The queue does not even load on an older Node.
  for (const name of node === undefined ? ["pg", "pg-boss"] : ["pg"])
    await import(name).catch((error: unknown) =>
      faults.push(`The package ${name} cannot be loaded (${wordsOf(error)}): npm install ${name}`),
    );
  let database: string | undefined;
  try {
    database = parseClusterUrl(settings.cluster ?? "").label;
    if (faults.length > 0) return { usable: false, database, faults };
    const [row] = await inCluster(
      settings,
      async (opened) =>
        await opened.query<{ number: number }>("select max(number) as number from acp_skills.migrations"),
    );
    return { usable: true, database, ...(row && { schema: row.number }), faults };
  } catch (error) {
    return { usable: false, ...(database !== undefined && { database }), faults: [...faults, wordsOf(error)] };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
