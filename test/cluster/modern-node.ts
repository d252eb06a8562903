import { clusterNodeFault } from "../../src/cluster/open-cluster.ts";
import { postgresFault } from "./postgres.ts";

/** Why tests of servers and workers cannot run here; undefined if they can. */
export function clusterFault(): string | undefined {
  return clusterNodeFault() ?? postgresFault();
}
