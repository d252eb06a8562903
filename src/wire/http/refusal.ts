import type { ServerResponse } from "node:http";
import { silentLog } from "../../base/log.ts";
import { SkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import { toWireError } from "../error-table.ts";

/** Why a request is refused before it reaches a server. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 421 | 429 | 431 | 503;
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The refusal for closed sessions and unknown paths alike. */
export const nothingHere: HttpRefusal = Object.freeze({
  status: 404,
  code: "INVALID_REQUEST",
  message: "Not found.",
});

export function isRefusal(admitted: object): admitted is HttpRefusal {
  return "status" in admitted && "message" in admitted;
}

/** Only one method, POST, is allowed. */
export function onlyPost(): HttpRefusal {
  return { status: 405, code: "INVALID_REQUEST", message: "Method not allowed; use POST.", headers: { allow: "POST" } };
}

/** A bearer token is missing or wrong (RFC 6750, section 3). */
export function unauthorized(message = "The bearer token is missing or wrong."): HttpRefusal {
  return { status: 401, code: "AUTH_REQUIRED", message, headers: { "www-authenticate": "Bearer" } };
}

/** A JSON-RPC error whose id is null. */
function toRefusalBody({ code, message }: Pick<HttpRefusal, "code" | "message">): string {
  // All codes of refusals are in the error table, so nothing is logged.
  const error = toWireError(new SkillsError(code, message), { log: silentLog, newErrorId: () => "" });
  return JSON.stringify({ jsonrpc: "2.0", id: null, error });
}

/** Responds with a JSON-RPC error whose id is null. */
export function refuse(response: ServerResponse, refusal: HttpRefusal): void {
  const { status, headers = {} } = refusal;
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
  response.end(toRefusalBody(refusal));
}
