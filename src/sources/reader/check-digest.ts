import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SkillsError } from "../../base/errors.ts";

const pieceBytes = 1024 * 1024;

/** Throws SOURCE_INVALID unless the bytes have the digest `sha256:…`. Does not block for long. `what` starts a sentence. */
export async function checkDigest(bytes: Uint8Array, digest: string, what: string): Promise<void> {
  if (!/^sha256:[0-9a-f]{64}$/i.test(digest))
    throw new SkillsError(
      "SOURCE_INVALID",
      `${what} has an invalid digest; it must be sha256: and 64 hexadecimal digits.`,
    );
  const received = await sha256Of(bytes);
  if (received === digest.toLowerCase()) return;
  const message = `${what} is not what its index says: its digest is ${received} instead of ${digest.toLowerCase()}.`;
  throw new SkillsError("SOURCE_INVALID", message);
}

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) await nextTurn();
    hash.update(bytes.subarray(at, at + pieceBytes));
  }
  return `sha256:${hash.digest("hex")}`;
}
