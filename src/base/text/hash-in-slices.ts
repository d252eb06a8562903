import { type BinaryToTextEncoding, createHash } from "node:crypto";
import { type Steps, runInSlices } from "../promises.ts";

const pieceBytes = 1024 * 1024;

/** The digest of many bytes, which does not block for long. */
export async function hashInSlices(
  bytes: Uint8Array,
  algorithm: "sha256" | "sha512",
  encoding?: BinaryToTextEncoding,
): Promise<string> {
  return await runInSlices(hashSteps(bytes, algorithm, encoding));
}

/** Hashes bytes as a part of other work in steps. */
export function* hashSteps(
  bytes: Uint8Array,
  algorithm: "sha256" | "sha512",
  encoding: BinaryToTextEncoding = "hex",
): Steps<string> {
  const digest = createHash(algorithm);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) yield;
    digest.update(bytes.subarray(at, at + pieceBytes));
  }
  return digest.digest(encoding);
}
