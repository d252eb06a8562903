import { isToken, toTokenDigest } from "./random-token.ts";
import { nothingHere } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

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
