import { SkillsError } from "../errors.ts";
import { parseBlobKind } from "./blob-kind.ts";
import type { BlobRange } from "./blob-store.ts";

const longestShown = 133;

/** The one answer to an id that is unknown, malformed, or somebody else's. */
export function blobNotFound(id: string): SkillsError {
  return new SkillsError("BLOB_NOT_FOUND", "There is no such blob. Use an id exactly as it was given.", {
    facts: { blobId: id.slice(0, longestShown) },
  });
}

export function blobTooLarge(limitBytes: number): SkillsError {
  return new SkillsError("BLOB_TOO_LARGE", `A blob may have at most ${limitBytes} bytes.`, { facts: { limitBytes } });
}

/** Throws VALIDATION_ERROR unless it is a kind without the `;base64` flag: decoding is over when a blob is put. */
export function checkKind(kind: string): void {
  const parsed = parseBlobKind(kind);
  if (parsed === undefined || parsed.base64) {
    throw invalid("/kind", "type/subtype[;name=value], at most 127 characters", kind.slice(0, longestShown));
  }
}

/** The range with its defaults, cut to the blob. Throws VALIDATION_ERROR for what is not a whole number ≥ 0. */
export function withinBlob(range: BlobRange, size: number): { readonly start: number; readonly end: number } {
  const { offset = 0, length = size } = range;
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalid("/offset", "a whole number, 0 or more", offset);
  if (!Number.isSafeInteger(length) || length < 0) throw invalid("/length", "a whole number, 0 or more", length);
  const start = Math.min(offset, size);
  return { start, end: Math.min(start + length, size) };
}

function invalid(field: string, expected: string, actual: unknown): SkillsError {
  return new SkillsError("VALIDATION_ERROR", `${field.slice(1)} must be ${expected}.`, {
    facts: { violations: [{ field, expected, actual }] },
  });
}

export function storeClosed(): SkillsError {
  return new SkillsError("CLOSED", "The blob store is closed.");
}
