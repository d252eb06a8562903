import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpRefusal } from "./refusal.ts";

/**
 * Why a request is refused whose Host, or Origin if present, is not ours: against DNS rebinding. `hosts` are host and port in lower case;
 * `origins` are further origins of the same server, such as `https://skills.example`.
 */
export function checkHostAndOrigin(
  { headers: { host, origin }, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  { hosts, origins = [] }: { readonly hosts: readonly string[]; readonly origins?: readonly string[] },
): HttpRefusal | undefined {
  if (host === undefined || isHostRepeated(rawHeaders) || !hosts.includes(host.toLowerCase()))
    return { status: 421, code: "INVALID_REQUEST", message: "Host not allowed." };
  if (origin === undefined) return undefined;
  const given = origin.toLowerCase();
  if (hosts.some((own) => given === `http://${own}`) || origins.includes(given)) return undefined;
  return { status: 403, code: "PERMISSION_DENIED", message: "Origin not allowed." };
}

/** Whether there are two Host lines: a proxy may read the other one. */
function isHostRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

const ambiguous = /\/\/|\\|#|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%00/i;
const encodedSlash = /%2f|%5c/i;

/**
 * The path of a request target; undefined if it has another form, or could be read as another path than it seems: with `.` or `..` segments,
 * encoded or not, empty segments, backslashes, a fragment, or (unless they are allowed) encoded slashes.
 */
export function pathOf(target: string, { mayEncodeSlashes = false } = {}): string | undefined {
  if (!target.startsWith("/")) return undefined;
  const end = target.indexOf("?");
  const path = end < 0 ? target : target.slice(0, end);
  return ambiguous.test(path) || (!mayEncodeSlashes && encodedSlash.test(path)) ? undefined : path;
}

/** The request target has no path that `pathOf` accepts. */
export const ambiguousPath: HttpRefusal = Object.freeze({
  status: 400,
  code: "INVALID_REQUEST",
  message: "Write the path without . or .. segments, or //.",
});

/** A secret of 256 random bits, safe in URLs and headers. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The digest by which a secret is recognised without being stored. */
export function toTokenDigest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Compares in constant time. */
export function isToken(candidate: string, digest: Buffer): boolean {
  return timingSafeEqual(toTokenDigest(candidate), digest);
}

/** Finds the owner of a token by its digest: the time of the lookup reveals nothing about other tokens. */
export function tokenFinder<Owner extends { readonly tokenDigest: Buffer }>(
  owners: readonly Owner[],
): (token: string) => Owner | undefined {
  const known = new Map(owners.map((owner) => [owner.tokenDigest.toString("base64"), owner]));
  return (token) => {
    const digest = toTokenDigest(token);
    const found = known.get(digest.toString("base64"));
    return found !== undefined && timingSafeEqual(digest, found.tokenDigest) ? found : undefined;
  };
}

/** The token of an `Authorization: Bearer` header (RFC 6750); undefined without one. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([^ ]+) *$/i.exec(authorization ?? "")?.[1];
}
