import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A secret of 256 random bits, safe in URLs and headers. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The digest by which a secret is recognised without being stored. */
export function toTokenDigest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Compares in constant time. */
export function isToken(candidate: string, digest: Buffer): boolean {
  return timingSafeEqual(toTokenDigest(candidate), digest);
}
