import { SkillsError } from "../base/errors.ts";
import type { Settings } from "../runtime/options.ts";
import type { GivenPorts } from "../runtime/ports.ts";
import { type Database, openDatabase, parseClusterUrl, schemaFault } from "./database.ts";
import { openClusterApprovals } from "./approvals.ts";
import { type MemberKind, joinCluster } from "./members.ts";

/** What the job queue needs. */
const leastNode = [22, 12] as const;

/** Why this Node cannot be part of a cluster, or undefined. */
export function clusterNodeFault(node: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [leastMajor, leastMinor] = leastNode;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `--cluster needs Node ${leastMajor}.${leastMinor} or newer; this is Node ${node}`;
}

/** Connects to the database of the settings and checks its schema. Rejects with INVALID_OPTIONS. */
export async function connectCluster({
  cluster,
  clock,
  log,
}: Pick<Settings, "cluster" | "clock" | "log">): Promise<Database> {
  const refuse = (message: string, cause?: unknown): SkillsError =>
    new SkillsError("INVALID_OPTIONS", message, { cause, facts: { option: "cluster" } });
  const fault = clusterNodeFault();
  if (fault !== undefined) throw refuse(fault);
  const url = parseClusterUrl(cluster ?? "");
  const database = await openDatabase(url, { clock, log });
  try {
    const unusable = await schemaFault(database);
    if (unusable !== undefined) throw refuse(unusable);
    return database;
  } catch (error) {
    await database.close();
    if (error instanceof SkillsError) throw error;
    throw refuse(
      `The database ${url.label} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** The parts of a member of the cluster that the settings name. Rejects with INVALID_OPTIONS. */
export async function openCluster(settings: Settings, kind: MemberKind = "server"): Promise<GivenPorts> {
  const database = await connectCluster(settings);
  const member = await joinCluster(database, { kind, ...settings });
  return {
    approvals: openClusterApprovals(database, settings),
    close: async () => {
      await member.leave();
      await database.close();
    },
  };
}
