import { SkillsError } from "../errors.ts";
import type { BlobRange } from "./blob-store.ts";

/** Argument checks and errors that both adapters of the blob store share. */

const idPattern = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const randomBytes = 16;
const longestShown = 133;

/** Whether a text is a well-formed blob id (CONTRACT C-4.1). */
export function isBlobId(text: string): boolean {
  return idPattern.test(text);
}

/** A new id: 128 random bits in lower-case hexadecimal, so that case-insensitive disks keep ids apart. */
export function newBlobId(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(randomBytes);
  random(bytes);
  return `blob:${Buffer.from(bytes).toString("hex")}`;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
const kindPattern = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|${quoted}))*$`);
const base64Suffix = / *; *base64$/i;
const longestKind = 127;

/** A parsed kind. */
export interface BlobKind {
  /** `type/subtype[;params]`, without the `;base64` flag. */
  readonly kind: string;
  /** Whether it ended with `;base64`: the content is decoded before it is stored (CONTRACT C-4.2). */
  readonly base64: boolean;
}

/** Parses a kind: an RFC 9110 media type in printable ASCII, at most 127 characters including the flag. Undefined if invalid. */
export function parseBlobKind(text: string): BlobKind | undefined {
  if (text.length > longestKind) return undefined;
  const kind = text.replace(base64Suffix, "");
  return kindPattern.test(kind) ? { kind, base64: kind.length < text.length } : undefined;
}

/** Throws VALIDATION_ERROR unless it is a kind without the `;base64` flag: a store receives decoded content. */
export function checkKind(kind: string): void {
  const parsed = parseBlobKind(kind);
  if (parsed === undefined || parsed.base64) {
    throw invalid("/kind", "type/subtype[;name=value], at most 127 characters", kind.slice(0, longestShown));
  }
}

/** The range with defaults, clamped to the blob. Throws VALIDATION_ERROR for anything but integers ≥ 0. */
export function withinBlob(range: BlobRange, size: number): { readonly start: number; readonly end: number } {
  const { offset = 0, length = size } = range;
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalid("/offset", "an integer, 0 or more", offset);
  if (!Number.isSafeInteger(length) || length < 0) throw invalid("/length", "an integer, 0 or more", length);
  const start = Math.min(offset, size);
  return { start, end: Math.min(start + length, size) };
}

function invalid(field: string, expected: string, actual: unknown): SkillsError {
  return new SkillsError("VALIDATION_ERROR", `${field.slice(1)} must be ${expected}.`, {
    facts: { violations: [{ field, expected, actual }] },
  });
}

/** The same error for an unknown id, a malformed id, and the id of another owner's blob. */
export function blobNotFound(id: string): SkillsError {
  return new SkillsError("BLOB_NOT_FOUND", "Blob not found. Use the id exactly as it was returned.", {
    facts: { blobId: id.slice(0, longestShown) },
  });
}

export function blobTooLarge(limitBytes: number): SkillsError {
  return new SkillsError("BLOB_TOO_LARGE", `The blob is too large; the limit is ${limitBytes} bytes.`, {
    facts: { limitBytes },
  });
}

export function storeClosed(): SkillsError {
  return new SkillsError("CLOSED", "The blob store is closed.");
}
