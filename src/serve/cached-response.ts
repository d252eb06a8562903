import type { ServerResponse } from "node:http";
import { hash } from "node:crypto";
import type { HttpCaller, HttpContext } from "./http-door.ts";

/** An answer to GET and HEAD whose bytes are kept ready. */
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
 * How long others may keep an answer (RFC 9111). `revalidated`: what is there may change, and depends on who asks; caches ask each time, and
 * shared ones keep only what anonymous callers got. `immutable`: at this path these bytes, or nothing.
 */
export type Caching = "revalidated" | "immutable";

/** The headers of an answer and of its 304, which must be the same (RFC 9110, section 15.4.5). */
function headersOf(etag: string, caching: Caching, isEverybodys: boolean): Record<string, string> {
  const who = isEverybodys ? "public" : "private";
  if (caching === "immutable") return { etag, "cache-control": `${who}, max-age=31536000, immutable` };
  return { etag, "cache-control": `${who}, no-cache`, vary: "authorization" };
}

/**
 * Answers with what is kept, or 304 where the client has it. To be called after the caller's access was checked. `isEverybodys`: shared
 * caches may keep it, too.
 */
export function respondWithCached(
  { env: { incoming, caller }, req }: HttpContext,
  kept: CachedResponse,
  {
    caching = "revalidated",
    isEverybodys = caller.isAnonymous,
    extra,
  }: {
    readonly caching?: Caching;
    readonly isEverybodys?: boolean;
    readonly extra?: Readonly<Record<string, string>>;
  } = {},
): Response {
  const headers = { ...headersOf(kept.etag, caching, isEverybodys), ...extra };
  // Plain headers in a Response of our own: `context.body` makes a Headers object of more than one, which costs more than the answer.
  if (matchesEtag(incoming.headers["if-none-match"], kept.etag)) return new Response(null, { status: 304, headers });
  headers["content-type"] = kept.type;
  headers["content-length"] = String(kept.body.byteLength);
  return new Response(req.method === "HEAD" ? null : kept.body, { status: 200, headers });
}

/** The same, where hono is not asked. */
export function writeCachedResponse(
  response: ServerResponse,
  { body, etag, type }: CachedResponse,
  { caller, ifNoneMatch }: { readonly caller: HttpCaller; readonly ifNoneMatch: string | undefined },
): void {
  const headers = headersOf(etag, "revalidated", caller.isAnonymous);
  if (matchesEtag(ifNoneMatch, etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  headers["content-type"] = type;
  headers["content-length"] = String(body.byteLength);
  response.writeHead(200, headers).end(body);
}

/** The strong entity tag of a representation: a digest of its bytes, so that callers who see other skills get another one. */
export function etagOf(body: string | Uint8Array): string {
  return `"${hash("sha256", body, "base64url").slice(0, 27)}"`;
}

/** Longer lists are not read: the client gets the whole answer. */
const maxLength = 4_096;

/**
 * Whether an `If-None-Match` names the tag, so that the client already has what it asks for (RFC 9110, section 13.1.2): a list of tags, which
 * are compared weakly, or `*`.
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
