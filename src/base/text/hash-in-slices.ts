import { type BinaryToTextEncoding, createHash } from "node:crypto";
import { type Steps, runInSlices } from "../promises.ts";

const pieceBytes = 1024 * 1024;

/** The digest of many bytes, which does not block for long. */
export async function hashInSlices(
  bytes: Uint8Array,
  algorithm: "sha256" | "sha512",
  encoding: BinaryToTextEncoding = "hex",
): Promise<string> {
  return await runInSlices(hash(bytes, algorithm, encoding));
}

function* hash(bytes: Uint8Array, algorithm: string, encoding: BinaryToTextEncoding): Steps<string> {
  const digest = createHash(algorithm);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) yield;
    digest.update(bytes.subarray(at, at + pieceBytes));
  }
  return digest.digest(encoding);
}
