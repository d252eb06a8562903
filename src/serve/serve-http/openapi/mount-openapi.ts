import { type CachedResponse, respondWithCached, toCachedResponse } from "../../cached-response.ts";
import type { MountRoutes } from "../../http-door.ts";
import { toOpenApi } from "./to-openapi.ts";

/** `GET /openapi.json`: the same for everybody, made at the first request. */
export const mountOpenApi: MountRoutes = (routes, { app, config, baseUrl }) => {
  let kept: CachedResponse | undefined;
  routes.get("/openapi.json", (context) => {
    kept ??= toCachedResponse(JSON.stringify(toOpenApi({ baseUrl: baseUrl(), version: app.version, config })));
    return respondWithCached(context, kept, { isEverybodys: true });
  });
};
