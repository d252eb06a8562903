import type { ServerResponse } from "node:http";
import { refuse } from "../../wire/http/refusal.ts";
import type { HttpRefusal } from "../../wire/http/refusal.ts";
import type { HttpContext } from "../http-door.ts";

/** Paths whose errors are those of JSON-RPC (CONTRACT C-2.2); all others have the error object of C-6.4. */
const rpcPaths: readonly string[] = ["/rpc", "/mcp"];

/** Refuses a request in the form that its path has. */
export function refuseRequest(response: ServerResponse, path: string, refusal: HttpRefusal): void {
  if (rpcPaths.includes(path)) {
    refuse(response, refusal);
    return;
  }
  response.writeHead(refusal.status, headersOf(refusal));
  response.end(toErrorBody(refusal));
}

/** The same as the answer of a handler, with the error object of C-6.4. */
export function toRefusalResponse(context: HttpContext, refusal: HttpRefusal): Response {
  return context.body(toErrorBody(refusal), refusal.status, headersOf(refusal));
}

function headersOf({ headers = {} }: HttpRefusal): Record<string, string> {
  return { "content-type": "application/json", "cache-control": "no-store", ...headers };
}

/** The error object of Skill Sharing (C-6.4). */
export function toErrorBody({ code, message, headers }: Pick<HttpRefusal, "code" | "message" | "headers">): string {
  const after = headers?.["retry-after"];
  const retry = after === undefined ? {} : { retry: { after_seconds: Number(after) } };
  return JSON.stringify({ error: { code, message, ...retry } });
}
