import { loadClusterAdmin } from "../../../given-ports.ts";
import { exit } from "../../command.ts";
import type { ClusterAction } from "../cluster.ts";

export const migrateAction: ClusterAction = async ({ options }, settings, terminal) => {
  const { migrateCluster } = await loadClusterAdmin();
  const applied = await migrateCluster(settings);
  if (options.json === true) await terminal.printJson({ applied });
  else if (applied.length === 0) await terminal.print(["The tables are those of this version.\n"]);
  else await terminal.print(applied.map((step) => `applied ${step}\n`));
  return exit.done;
};
