import type { ServerResponse } from "node:http";
import { SkillsError } from "../../errors.ts";
import type { SkillsErrorCode } from "../../errors.ts";
import { silentLog } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";

/** Why a request is refused before it reaches a server. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 421;
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The same for closed sessions and unknown paths. */
export const nothingHere: Refusal = Object.freeze({
  status: 404,
  code: "INVALID_REQUEST",
  message: "Not found.",
});

/** Responds with a JSON-RPC error whose id is null (CONTRACT C-2.2). */
export function refuse(response: ServerResponse, { status, code, message, headers = {} }: Refusal): void {
  // All codes of refusals are in the error table, so nothing is logged.
  const error = toWireError(new SkillsError(code, message), { log: silentLog, newErrorId: () => "" });
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
}
