import type { ServerResponse } from "node:http";
import { SkillsError } from "../../errors.ts";
import type { SkillsErrorCode } from "../../errors.ts";
import { silentLog } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";

/** A request that never reaches a session, or not its server. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 421;
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** For a path that is gone, and for one that never was: nobody can tell them apart. */
export const nothingHere: Refusal = Object.freeze({
  status: 404,
  code: "INVALID_REQUEST",
  message: "There is nothing here.",
});

/** Answers with a JSON-RPC error that belongs to no id (CONTRACT C-2.2). What is left of the request is read and forgotten. */
export function refuse(response: ServerResponse, { status, code, message, headers = {} }: Refusal): void {
  // Every code of a refusal is in the table: nothing is logged, and no id is needed.
  const error = toWireError(new SkillsError(code, message), { log: silentLog, newErrorId: () => "" });
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
}
