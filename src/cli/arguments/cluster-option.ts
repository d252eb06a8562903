import { readOptions } from "../../runtime/options.ts";
import type { Terminal } from "../report/terminal.ts";
import { text, usageError } from "../command.ts";
import { type ClusterRecords, openRecords } from "../../given-ports.ts";

/** The option that names a cluster, for commands that read or change its database. */
export const cluster = text(
  "URL",
  "What is in the PostgreSQL database of a cluster at URL. Default: $ACP_SKILLS_CLUSTER.",
);

/** Throws INVALID_OPTIONS for a URL with a password, because other users can read a command line. */
export function refusePassword(url: string): void {
  if (URL.canParse(url) && new URL(url).password !== "")
    throw usageError(
      "--cluster: others can read a password on a command line; put the URL into ACP_SKILLS_CLUSTER, or the password into PGPASSWORD or a file that PGPASSFILE names",
    );
}

/** Connects to the cluster of `--cluster` or `$ACP_SKILLS_CLUSTER`; undefined without one. Throws INVALID_OPTIONS. */
export async function recordsOfCluster(
  url: string | undefined,
  { log }: Pick<Terminal, "log">,
): Promise<ClusterRecords | undefined> {
  if (url !== undefined) refusePassword(url);
  return await openRecords(readOptions({ ...(url !== undefined && { cluster: url }), log }));
}
