import { isToken, toTokenDigest } from "./random-token.ts";
import { nothingHere } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** The head of a request, as far as admission looks at it. */
export interface RequestHead {
  readonly method: string | undefined;
  /** As the request line has it. */
  readonly target: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}

/** Something that waits behind a path and a token. */
export interface Guarded {
  readonly tokenDigest: Buffer;
}

/** Those who wait, under the digests of their paths: looking one up tells nothing about the others by the time it takes. */
export type GuardedPaths<Session extends Guarded> = ReadonlyMap<string, Session>;

export function toPathKey(path: string): string {
  return toTokenDigest(path).toString("base64");
}

/**
 * Who is called, if the request may pass (CONTRACT C-2.2). The Host must be ours, so that no name of somebody else's leads a
 * browser here, and an Origin, where there is one, as well. A path that is gone is refused like one that never was.
 */
export function admitRequest<Session extends Guarded>(
  { method, target, host, origin, authorization }: RequestHead,
  port: number,
  paths: GuardedPaths<Session>,
): Session | Refusal {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host.toLowerCase())) {
    return { status: 421, code: "INVALID_REQUEST", message: "This server does not answer under that Host." };
  }
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`)) {
    return { status: 403, code: "PERMISSION_DENIED", message: "Requests from that Origin are not allowed." };
  }
  const session = target === undefined ? undefined : paths.get(toPathKey(target));
  if (session === undefined) return nothingHere;
  const token = /^bearer +([^ ]+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined || !isToken(token, session.tokenDigest)) {
    const message = "The bearer token is missing or not the right one.";
    return { status: 401, code: "AUTH_REQUIRED", message, headers: { "www-authenticate": "Bearer" } };
  }
  if (method === "POST") return session;
  return { status: 405, code: "INVALID_REQUEST", message: "Only POST is served.", headers: { allow: "POST" } };
}

export function isRefusal(admitted: Guarded | Refusal): admitted is Refusal {
  return "status" in admitted;
}
