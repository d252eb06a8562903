import { type BinaryToTextEncoding, createHash } from "node:crypto";
import { type Steps, runInSlices } from "../promises.ts";

const pieceBytes = 1024 * 1024;

/** Hashes many bytes without blocking the thread for long. */
export async function hashInSlices(
  bytes: Uint8Array,
  algorithm: "sha256" | "sha512",
  encoding?: BinaryToTextEncoding,
): Promise<string> {
  return await runInSlices(hashSteps(bytes, algorithm, encoding));
}

/** Hashes bytes in steps of 1 MiB, within other work in steps. */
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
