import { SkillsError, isSkillsError } from "../base/errors.ts";
import { doOnce } from "../base/promises.ts";
import { userName } from "../base/processes/live-process.ts";
import type { Settings, ClusterSettings } from "../runtime/options.ts";
import type { GivenPorts } from "../runtime/ports.ts";
import { openClusterBlobs, openObjectStore } from "./blobs.ts";
import { clusterMetrics } from "./admin/cluster-metrics.ts";
import { isOutage, unusableCluster } from "./database/database-error.ts";
import { type Database, openDatabase, parseClusterUrl, schemaFault } from "./database.ts";
import { openClusterApprovals } from "./approvals.ts";
import { openClusterCatalog } from "./catalog.ts";
import {
  type CallerFollower,
  type CallerRecords,
  type PolicyRecords,
  followCallers,
  followPolicy,
  openCallerRecords,
  openPolicyRecords,
} from "./callers.ts";
import type { CallerConfig } from "../serve/config.ts";
import type { ApprovalStore } from "../runtime/trust.ts";
import type { Ledger } from "../runtime/ledger.ts";
import { openClusterLedger } from "./ledger.ts";
import { type MemberKind, joinCluster } from "./members.ts";
import { openJobQueue } from "./runs/job-queue.ts";
import { ClusterExecutor } from "./runs/cluster-executor.ts";
import { ClusterRunRecords } from "./runs/run-records.ts";
import { type SkillPacks, openSkillPacks } from "./skills.ts";

/** The oldest Node that the job queue supports. */
const minClusterNode = [22, 12] as const;

/** Why this Node cannot join a cluster; undefined if it can. */
export function clusterNodeFault(node: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [minMajor, minMinor] = minClusterNode;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `--cluster needs Node ${minMajor}.${minMinor} or newer; this is Node ${node}`;
}

/** Connects to the database of the settings. `faultOf` says why it is unusable; default: `schemaFault`. Rejects with INVALID_OPTIONS. */
export async function connectCluster(
  { cluster, clock, log }: ClusterSettings,
  connections?: number,
  faultOf: (database: Database) => Promise<string | undefined> = schemaFault,
): Promise<Database> {
  const fault = clusterNodeFault();
  if (fault !== undefined) throw unusableCluster(fault);
  const url = parseClusterUrl(cluster ?? "");
  const database = await openDatabase(url, { clock, log, connections });
  try {
    const unusable = await faultOf(database);
    if (unusable !== undefined) throw unusableCluster(unusable);
    return database;
  } catch (error) {
    await database.close();
    if (error instanceof SkillsError) throw error;
    throw unusableCluster(
      `The database ${url.label} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** Connects as a member, also in an outage: the first statement after it checks the schema. Rejects with INVALID_OPTIONS. */
export async function connectMember(settings: ClusterSettings, connections?: number): Promise<Database> {
  try {
    return await connectCluster(settings, connections);
  } catch (error) {
    if (!isSkillsError(error) || !isOutage(error.cause)) throw error;
    settings.log("warning", `${error.message}. What needs it is refused until it can.`);
    return verifiedLater(await openDatabase(parseClusterUrl(settings.cluster ?? ""), { ...settings, connections }));
  }
}

function verifiedLater(database: Database): Database {
  const verifiedOnce = doOnce(async () => {
    const fault = await schemaFault(database);
    if (fault !== undefined) throw unusableCluster(fault);
  });
  return {
    ...database,
    query: async (...given) => {
      await verifiedOnce();
      return await database.query(...given);
    },
    transaction: async (...given) => {
      await verifiedOnce();
      return await database.transaction(...given);
    },
    readBytes: async (...given) => {
      await verifiedOnce();
      await database.readBytes(...given);
    },
  };
}

/** The stores that all members open, servers and workers. */
interface SharedStores {
  readonly ports: Omit<GivenPorts, "executor" | "addSkills" | "close">;
  readonly packs: SkillPacks;
  readonly records: ClusterRunRecords;
  close(): Promise<void>;
}

export async function openShared(database: Database, settings: Settings, member: string): Promise<SharedStores> {
  const { clock, log } = settings;
  const objects = await openObjectStore(process.env["ACP_SKILLS_CLUSTER_S3"]);
  const packs = openSkillPacks(database, settings);
  const ledger = openClusterLedger(database, { ...settings, user: userName() });
  const followed = await followPolicy(database, settings);
  const records = new ClusterRunRecords({ database, member, log });
  return {
    packs,
    records,
    ports: {
      blobs: openClusterBlobs(database, { ...settings.blobs, clock, log, objects }),
      approvals: openClusterApprovals(database, settings),
      ledger,
      records,
      sharedPolicy: followed.policy,
    },
    async close() {
      followed.close();
      const fault = await ledger.flush();
      if (fault !== undefined) log("error", `Rows of the ledger were not written: ${fault}`);
      await packs.close();
    },
  };
}

/** The ports of a server or wrapper of a cluster, instead of those on disk. */
export interface ClusterPorts extends GivenPorts {
  /** Follows the callers of the cluster; see `followCallers`. */
  readonly followCallers: (changed: (callers: readonly CallerConfig[]) => void) => Promise<CallerFollower>;
}

/** Opens the ports of a server or wrapper of the cluster that the settings name. Rejects with INVALID_OPTIONS. */
export async function openCluster(
  settings: Settings,
  kind: Exclude<MemberKind, "worker"> = "server",
): Promise<ClusterPorts> {
  const { clock, log } = settings;
  const database = await connectMember(settings);
  const closing: (() => unknown)[] = [() => database.close()];
  const close = async (): Promise<void> => {
    for (const each of closing.toReversed()) await Promise.resolve(each()).catch(() => undefined);
  };
  try {
    const own = await joinCluster(database, { kind, ...settings });
    const member = own.id;
    closing.push(() => own.leave());
    const shared = await openShared(database, settings, member);
    closing.push(() => shared.close());
    const { packs, ports, records } = shared;
    const catalog = openClusterCatalog(database, packs, settings, ports);
    closing.push(() => catalog.close());
    const queue = openJobQueue(database, { log, supervise: false });
    closing.push(() => queue.close());
    const executor = new ClusterExecutor({
      ...{ database, queue, packs, member, clock, log },
      onSubmitted: (runId) => records.leaveToWorkers(runId),
    });
    closing.push(() => executor.close());
    const { addSkills } = catalog;
    return {
      ...ports,
      ...{ executor, addSkills, close },
      metrics: clusterMetrics(database, clock, () => catalog.age()),
      followCallers: (changed) => followCallers(database, changed, settings),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The records of a cluster that commands read and change. */
export interface ClusterRecords {
  readonly approvals: ApprovalStore;
  readonly ledger: Ledger;
  readonly callers: CallerRecords;
  readonly policy: PolicyRecords;
  /** Closes the database. Rejects if rows of the ledger could not be written. */
  close(): Promise<void>;
}

/** Opens the records of a cluster that commands read and change. Rejects with INVALID_OPTIONS. */
export async function openClusterRecords(settings: ClusterSettings): Promise<ClusterRecords> {
  const database = await connectCluster(settings);
  const who = userName();
  const ledger = openClusterLedger(database, { ...settings, user: who });
  return {
    approvals: openClusterApprovals(database, settings),
    ledger,
    callers: openCallerRecords(database, who),
    policy: openPolicyRecords(database, who),
    close: async () => {
      const fault = await ledger.flush();
      await database.close();
      if (fault !== undefined) throw new SkillsError("UNREADABLE", `The ledger could not be written: ${fault}`);
    },
  };
}
