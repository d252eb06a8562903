import type { ClusterAction } from "../cluster.ts";
import { exit } from "../../command.ts";
export const demoAction: ClusterAction = async () => Promise.resolve(exit.done);
