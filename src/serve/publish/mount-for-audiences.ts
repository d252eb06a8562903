import type { Hono } from "hono";
import { nothingHere } from "../../wire/http/refusal.ts";
import { type HttpContext, type HttpEnv, toRefusalResponse } from "../http-door.ts";
import { type Audience, type Shares, toAudience } from "./audience.ts";

type AnswerAudience = (context: HttpContext, audience: Audience) => Promise<Response>;

/** Adds a route for callers, and the same below `/s/<token>/` for those who know the path of a share. */
export function mountForAudiences(
  routes: Hono<HttpEnv>,
  shares: Shares,
): (method: "GET" | "POST", path: string, answer: AnswerAudience) => void {
  return (method, path, answer) => {
    routes.on(method, path, (context) => answer(context, toAudience(context.env.caller)));
    routes.on(method, `/s/:token${path}`, async (context) => {
      const audience = shares.find(context.req.param("token"));
      return audience === undefined ? toRefusalResponse(context, nothingHere) : await answer(context, audience);
    });
  };
}
