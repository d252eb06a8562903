import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A new secret: 256 random bits, safe in a URL and in a header. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What may be kept of a secret in order to recognise it. */
export function toTokenDigest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Whether this is the secret; takes as long for a near miss as for a wild guess. */
export function isToken(candidate: string, digest: Buffer): boolean {
  return timingSafeEqual(toTokenDigest(candidate), digest);
}
