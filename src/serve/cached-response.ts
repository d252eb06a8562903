import { hash } from "node:crypto";
import type { RouteResult, HttpExchange } from "./serve-context.ts";

/** An answer to GET and HEAD whose bytes are cached. */
export interface CachedResponse {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly type: string;
}

export function toCachedResponse(content: string | Uint8Array<ArrayBuffer>, type = "application/json"): CachedResponse {
  const body = typeof content === "string" ? new Uint8Array(Buffer.from(content)) : content;
  return { body, etag: etagOf(body), type };
}

/**
 * Sends a cached answer, or 304 if the client has it. To be called after the caller's access was checked.
 * - `immutable`: this path has these bytes or nothing (RFC 9111). Otherwise caches ask each time, because the answer may change and
 *   depends on the caller.
 * - `isPublic`: shared caches may store it, too. Default: whether the caller is anonymous.
 */
export function sendCached(
  { request, response, caller }: HttpExchange,
  { body, etag, type }: CachedResponse,
  options: { readonly immutable?: boolean; readonly isPublic?: boolean; readonly extra?: Record<string, string> } = {},
): RouteResult {
  const { immutable = false, isPublic = caller.isAnonymous, extra } = options;
  const who = isPublic ? "public" : "private";
  const caching = immutable
    ? { "cache-control": `${who}, max-age=31536000, immutable` }
    : { "cache-control": `${who}, no-cache`, vary: "authorization" };
  // A 304 has the same headers (RFC 9110, section 15.4.5).
  const headers = { etag, ...caching, ...extra };
  if (matchesEtag(request.headers["if-none-match"], etag)) response.writeHead(304, headers).end();
  else response.writeHead(200, { ...headers, "content-type": type, "content-length": body.byteLength }).end(body);
  return undefined;
}

/** Returns the strong entity tag of a representation: a digest of its bytes, so that callers who see other skills get another one. */
export function etagOf(body: string | Uint8Array): string {
  return `"${hash("sha256", body, "base64url").slice(0, 27)}"`;
}

/** The maximum length of an `If-None-Match`: for a longer one, the client gets the whole answer. */
const maxLength = 4_096;

/**
 * Whether an `If-None-Match` names the tag, so that the client has the answer already (RFC 9110, section 13.1.2). The header is a list of
 * tags, which are compared weakly, or `*`.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch.length > maxLength) return false;
  if (ifNoneMatch === etag) return true;
  const list = ifNoneMatch.trim();
  if (list === "*") return true;
  const opaque = etag.startsWith("W/") ? etag.slice(2) : etag;
  // A tag may contain a comma.
  for (const [tag] of list.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g)) if (tag === opaque) return true;
  return false;
}
