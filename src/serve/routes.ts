import { publishedRoutes } from "./publish.ts";
import { eventRoutes } from "./routes/events.ts";
import { monitoringRoutes } from "./routes/monitoring.ts";
import { openApiRoutes } from "./routes/openapi.ts";
import { rpcRoutes } from "./routes/rpc.ts";
import type { CreateRoutes } from "./serve-context.ts";

/** Every route besides `/mcp`. */
export const createRoutes: CreateRoutes = (context) =>
  [monitoringRoutes, rpcRoutes, eventRoutes, openApiRoutes, ...publishedRoutes].flatMap((create) => create(context));
