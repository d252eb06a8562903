import { answerKept, keepAnswer } from "../answer/kept-answer.ts";
import type { KeptAnswer } from "../answer/kept-answer.ts";
import type { MountRoutes } from "../http-door.ts";
import { toOpenApi } from "./to-openapi.ts";

/** `GET /openapi.json`: the same for everybody, made at the first request. */
export const mountOpenApi: MountRoutes = (routes, { app, config, baseUrl }) => {
  let kept: KeptAnswer | undefined;
  routes.get("/openapi.json", (context) => {
    kept ??= keepAnswer(JSON.stringify(toOpenApi({ baseUrl: baseUrl(), version: app.version, config })));
    return answerKept(context, kept, { isEverybodys: true });
  });
};
