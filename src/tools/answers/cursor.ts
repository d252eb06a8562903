import { createHmac } from "node:crypto";
import { SkillsError } from "../../errors.ts";

const macBytes = 16;
/**
 * Public on purpose. The code tells a model's invention or a broken copy from a cursor of ours; it guards no secret, for a cursor
 * says no more than the name its holder saw last. So cursors outlive the process, and pass from one door to another.
 */
const key = "acp-skills list_skills cursor 1";

/** An opaque keyset cursor (CONTRACT C-3.1): "after this name, in this namespace". */
export function toCursor(namespace: string | undefined, after: string): string {
  const body = Buffer.from(JSON.stringify([namespace ?? null, after]));
  return Buffer.concat([macOf(body), body]).toString("base64url");
}

/** The name after which the page starts. Throws INVALID_CURSOR unless `toCursor` made this text for this namespace. */
export function fromCursor(cursor: string, namespace: string | undefined): string {
  const bytes = Buffer.from(cursor, "base64url");
  const body = bytes.subarray(macBytes);
  // Decoding is lenient: only the one spelling that we write is ours.
  const isOurs = bytes.toString("base64url") === cursor && macOf(body).equals(bytes.subarray(0, macBytes));
  if (!isOurs) throw invalidCursor("The cursor is not one that list_skills gave.");
  const [space, after] = JSON.parse(body.toString()) as [string | null, string];
  if (space !== (namespace ?? null)) throw invalidCursor("The cursor belongs to a list of another namespace.");
  return after;
}

function macOf(body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest().subarray(0, macBytes);
}

function invalidCursor(message: string): SkillsError {
  const hint =
    "Give next_cursor back unchanged and with the same namespace, or leave out cursor to start from the first page.";
  return new SkillsError("INVALID_CURSOR", message, { facts: { hint } });
}
