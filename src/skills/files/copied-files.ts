import { createHash } from "node:crypto";
import { digestForm } from "../../base/text/content.ts";

/** A text file of an approved version, stored to show later changes. `text` is absent if it is binary or large. */
export interface CopiedFile {
  readonly path: string;
  readonly sha256: string;
  readonly text?: string | undefined;
}

/** A file that differs from the version that was approved before. */
export interface ChangedFile {
  readonly path: string;
  /** Undefined if the file did not exist, is binary, or is too large. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

const maxFiles = 4_096;
/** The largest text that is stored. For larger files, and files after the first 512 KiB, only the digest is stored. */
export const maxTextBytes = 64 * 1024;
export const maxTextBytesTogether = 512 * 1024;

/** The hexadecimal part of a digest. Undefined for any other text, which is never used in a path. */
export function toHex(digest: string): string | undefined {
  return digestForm.test(digest) ? digest.replace("sha256:", "") : undefined;
}

/** Selects what to store of a version's files: no text that is too long or does not match its digest. Undefined for too many files. */
export function toCopy(files: readonly CopiedFile[]): readonly CopiedFile[] | undefined {
  if (files.length > maxFiles) return undefined;
  let bytesLeft = maxTextBytesTogether;
  return files.map(({ path, sha256, text }) => {
    const limit = Math.min(maxTextBytes, bytesLeft);
    // A text has at least as many bytes as characters, so that long texts need not be encoded.
    const bytes = text === undefined || text.length > limit ? undefined : Buffer.from(text);
    const isCopied =
      bytes !== undefined && bytes.length <= limit && createHash("sha256").update(bytes).digest("hex") === sha256;
    if (isCopied) bytesLeft -= bytes.length;
    return { path, sha256, ...(isCopied && { text }) };
  });
}

/** The files that differ, in order of paths, with their texts if stored. */
export function changesOf(before: readonly CopiedFile[], after: readonly CopiedFile[]): readonly ChangedFile[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths
    .filter((path) => old.get(path)?.sha256 !== now.get(path)?.sha256)
    .map((path) => ({ path, before: old.get(path)?.text, after: now.get(path)?.text }));
}
