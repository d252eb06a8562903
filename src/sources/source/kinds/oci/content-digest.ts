import { createHash } from "node:crypto";
import { type Steps, runInSlices } from "../../../../base/promises.ts";
import { badSource } from "../../source-label.ts";

const pieceBytes = 1024 * 1024;

function* hash(bytes: Uint8Array, algorithm: string): Steps<string> {
  const digest = createHash(algorithm);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    digest.update(bytes.subarray(at, at + pieceBytes));
    yield;
  }
  return `${algorithm}:${digest.digest("hex")}`;
}

/** The digest of bytes, in slices. */
export async function digestOf(bytes: Uint8Array, algorithm: "sha256" | "sha512" = "sha256"): Promise<string> {
  return await runInSlices(hash(bytes, algorithm));
}

/** Throws SOURCE_INVALID unless the bytes have the digest. `what` starts a sentence. */
export async function verifyDigest(bytes: Uint8Array, digest: string, what: string): Promise<void> {
  const received = await digestOf(bytes, digest.startsWith("sha512:") ? "sha512" : "sha256");
  if (received === digest) return;
  throw badSource(`${what} is not what was asked for: its digest is ${received} instead of ${digest}`);
}
