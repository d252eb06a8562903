import { hash } from "node:crypto";

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
