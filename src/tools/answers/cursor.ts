import { createHmac } from "node:crypto";
import { SkillsError } from "../../errors.ts";

const macBytes = 16;
/**
 * Public on purpose: the code only detects forged or damaged cursors and protects no secret. So cursors survive a restart
 * and work through every door.
 */
const key = "acp-skills list_skills cursor 1";

/** The list that a cursor belongs to. */
export interface CursorList {
  readonly namespace?: string | undefined;
  /** The words of a query, separated by spaces. */
  readonly query?: string | undefined;
}

/** The last row of a page; with a query, rows are ordered by rank first. */
export interface CursorPlace {
  readonly name: string;
  readonly rank?: number;
}

/** An opaque keyset cursor (CONTRACT C-3.1): "after this row of this list". */
export function toCursor({ namespace, query }: CursorList, { name, rank }: CursorPlace): string {
  const body = Buffer.from(JSON.stringify([namespace ?? null, name, ...(query === undefined ? [] : [query, rank])]));
  return Buffer.concat([macOf(body), body]).toString("base64url");
}

/** The row after which the page starts. Throws INVALID_CURSOR unless `toCursor` made this text for this list. */
export function fromCursor(cursor: string, { namespace, query }: CursorList): CursorPlace {
  const bytes = Buffer.from(cursor, "base64url");
  const body = bytes.subarray(macBytes);
  // Decoding is lenient: only the one spelling that we write is ours.
  const isOurs = bytes.toString("base64url") === cursor && macOf(body).equals(bytes.subarray(0, macBytes));
  if (!isOurs) throw invalidCursor("This cursor was not returned by list_skills.");
  type Body = [space: string | null, name: string, words?: string, rank?: number];
  const [space, name, words, rank = 0] = JSON.parse(body.toString()) as Body;
  if (space !== (namespace ?? null)) throw invalidCursor("The cursor belongs to another namespace.");
  if (words !== query) throw invalidCursor("The cursor belongs to another query.");
  return { name, rank };
}

function macOf(body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest().subarray(0, macBytes);
}

function invalidCursor(message: string): SkillsError {
  const hint =
    "Pass next_cursor unchanged, with the same namespace and query, or omit cursor to start from the first page.";
  return new SkillsError("INVALID_CURSOR", message, { facts: { hint } });
}
