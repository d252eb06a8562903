import type * as ClusterAdmin from "./cluster/admin.ts";
import type * as ClusterWorker from "./cluster/worker.ts";
import type { ClusterSettings, Settings } from "./runtime/options.ts";
import type { GivenPorts } from "./runtime/ports.ts";
import type { ClusterPorts, ClusterRecords } from "./cluster/open-cluster.ts";

export type { ClusterRecords };

/**
 * Opens the adapters that replace the default ports: those of the cluster, then the user's own modules, which take precedence. Only this
 * file imports both the cluster and the rest of the code base. Rejects with INVALID_OPTIONS.
 */
export async function openGivenPorts(
  settings: Settings,
  kind: "server" | "wrapper" = "server",
): Promise<GivenPorts & Partial<ClusterPorts>> {
  const { cluster, ports } = settings;
  const [shared, own] = await Promise.all([
    cluster === undefined
      ? {}
      : import("./cluster/open-cluster.ts").then(({ openCluster }) => openCluster(settings, kind)),
    Object.keys(ports).length === 0 ? {} : import("./runtime/ports.ts").then(({ openPorts }) => openPorts(settings)),
  ]);
  return { ...shared, ...own };
}

/** Loads the module behind the `cluster` commands. */
export async function loadClusterAdmin(): Promise<typeof ClusterAdmin> {
  return await import("./cluster/admin.ts");
}

/** Loads the module that executes the runs of a cluster. */
export async function loadClusterWorker(): Promise<typeof ClusterWorker> {
  return await import("./cluster/worker.ts");
}

/** Opens the records of the settings' cluster, to read and change; undefined without a cluster. Rejects with INVALID_OPTIONS. */
export async function openRecords(settings: ClusterSettings): Promise<ClusterRecords | undefined> {
  if (settings.cluster === undefined) return undefined;
  const { openClusterRecords } = await import("./cluster/open-cluster.ts");
  return await openClusterRecords(settings);
}
