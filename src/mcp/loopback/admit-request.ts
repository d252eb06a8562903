import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import { silentLog } from "../../base/log.ts";
import { SkillsError } from "../../errors.ts";
import type { SkillsErrorCode } from "../../errors.ts";
import { toWireError } from "../../wire/error-table.ts";

/** The parts of a request that decide on admission. */
export interface RequestHead {
  readonly method: string | undefined;
  /** From the request line. */
  readonly target: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}

/** A session, identified by a path and a token. */
export interface Guarded {
  readonly tokenDigest: Buffer;
}

/** By digest of the path, so that the time of a lookup reveals nothing about other paths. */
export type GuardedPaths<Session extends Guarded> = ReadonlyMap<string, Session>;

export function toPathKey(path: string): string {
  return toTokenDigest(path).toString("base64");
}

/**
 * The session that a request is for, or why it is refused (CONTRACT C-2.2). Host, and Origin if present, must be ours, against DNS
 * rebinding. The path of a closed session is refused like an unknown one.
 */
export function admitRequest<Session extends Guarded>(
  { method, target, host, origin, authorization }: RequestHead,
  port: number,
  paths: GuardedPaths<Session>,
): Session | Refusal {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host.toLowerCase())) {
    return { status: 421, code: "INVALID_REQUEST", message: "Host not allowed." };
  }
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`)) {
    return { status: 403, code: "PERMISSION_DENIED", message: "Origin not allowed." };
  }
  const session = target === undefined ? undefined : paths.get(toPathKey(target));
  if (session === undefined) return nothingHere;
  const token = /^bearer +([^ ]+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined || !isToken(token, session.tokenDigest)) {
    const message = "The bearer token is missing or wrong.";
    return { status: 401, code: "AUTH_REQUIRED", message, headers: { "www-authenticate": "Bearer" } };
  }
  if (method === "POST") return session;
  return { status: 405, code: "INVALID_REQUEST", message: "Method not allowed; use POST.", headers: { allow: "POST" } };
}

export function isRefusal(admitted: Guarded | Refusal): admitted is Refusal {
  return "status" in admitted;
}

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

/** A secret of 256 random bits, safe in URLs and headers. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The digest by which a secret is recognised without being stored. */
export function toTokenDigest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Compares in constant time. */
function isToken(candidate: string, digest: Buffer): boolean {
  return timingSafeEqual(toTokenDigest(candidate), digest);
}
