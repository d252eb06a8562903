import type * as ClusterAdmin from "./cluster/admin.ts";
import type * as ClusterWorker from "./cluster/worker.ts";
import type { Settings } from "./runtime/options.ts";
import type { GivenPorts } from "./runtime/ports.ts";
import type { ClusterParts, ClusterRecords } from "./cluster/open-cluster.ts";

export type { ClusterRecords };

/**
 * Opens what takes the place of our own parts: that of a cluster, and the user's own modules, which come first. The only file that knows
 * both the house and the cluster. Rejects with INVALID_OPTIONS.
 */
export async function openParts(
  settings: Settings,
  kind: "server" | "wrapper" = "server",
): Promise<GivenPorts & Partial<ClusterParts>> {
  const { cluster, ports } = settings;
  const [shared, own] = await Promise.all([
    cluster === undefined
      ? {}
      : import("./cluster/open-cluster.ts").then(({ openCluster }) => openCluster(settings, kind)),
    Object.keys(ports).length === 0 ? {} : import("./runtime/ports.ts").then(({ openPorts }) => openPorts(settings)),
  ]);
  return { ...shared, ...own };
}

/** What the commands for a cluster use. */
export async function loadClusterAdmin(): Promise<typeof ClusterAdmin> {
  return await import("./cluster/admin.ts");
}

/** What executes the runs of a cluster. */
export async function loadClusterWorker(): Promise<typeof ClusterWorker> {
  return await import("./cluster/worker.ts");
}

/** What commands read and change in the cluster of the settings; undefined without one. Rejects with INVALID_OPTIONS. */
export async function openRecords(
  settings: Pick<Settings, "cluster" | "clock" | "log">,
): Promise<ClusterRecords | undefined> {
  if (settings.cluster === undefined) return undefined;
  const { openClusterRecords } = await import("./cluster/open-cluster.ts");
  return await openClusterRecords(settings);
}
