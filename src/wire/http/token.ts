import { hash, randomBytes, timingSafeEqual } from "node:crypto";

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

/** Finds what has a token by its digest: the time of the lookup reveals nothing about other tokens. */
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
