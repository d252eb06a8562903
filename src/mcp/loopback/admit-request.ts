import { checkHostAndOrigin } from "../../wire/http/host-and-origin.ts";
import { nothingHere, onlyPost, unauthorized } from "../../wire/http/refusal.ts";
import type { HttpRefusal } from "../../wire/http/refusal.ts";
import { bearerToken, isToken, toTokenDigest } from "../../wire/http/token.ts";

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
): Session | HttpRefusal {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const refusal = checkHostAndOrigin({ host, origin }, { hosts });
  if (refusal !== undefined) return refusal;
  const session = target === undefined ? undefined : paths.get(toPathKey(target));
  if (session === undefined) return nothingHere;
  const token = bearerToken(authorization);
  if (token === undefined || !isToken(token, session.tokenDigest)) return unauthorized();
  return method === "POST" ? session : onlyPost();
}
