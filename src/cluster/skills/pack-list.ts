import { SkillsError } from "../../base/errors.ts";
import { parseIfJson } from "../../base/json/json-value.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { digestForm } from "../../base/text/content.ts";
import { type HashedFile, digestOf, isHiddenName } from "../../skills/hash.ts";
import { fileNameFault, signatureFile } from "../../skills/skill.ts";
import { remotePathFault } from "../../sources/archive.ts";
import { skillLimits } from "../../sources/source.ts";

/** The length of a list with the maximum number of files, each with the longest path. */
export const maxListLength = 4 * 1024 * 1024;

const hex = /^[0-9a-f]{64}$/;

/** Formats the list of a pack for the database. Throws SOURCE_INVALID for files that no pack may have. */
export function formatList(files: readonly HashedFile[], digest: string): string {
  const fault = listFault(files);
  if (fault !== undefined) throw badPack(digest, fault);
  return JSON.stringify(files.map(({ path, size_bytes, sha256 }) => [path, size_bytes, sha256]));
}

/** Parses the list of a pack: its files, in the order of their bytes. Throws SOURCE_INVALID unless the list has exactly this digest. */
export function parseList(text: string, digest: string): readonly HashedFile[] {
  const value = parseIfJson(text);
  if (value === undefined) throw badPack(digest, "its list of files is no JSON");
  if (!Array.isArray(value)) throw badPack(digest, "its list of files is none");
  const files = value.map((row: unknown): HashedFile => {
    const [path, size, sha256] = Array.isArray(row) ? (row as unknown[]) : [];
    const isFile = typeof path === "string" && Number.isSafeInteger(size) && Number(size) >= 0;
    if (!isFile || typeof sha256 !== "string" || !hex.test(sha256)) throw badPack(digest, "its list names no file");
    return { path, size_bytes: Number(size), sha256 };
  });
  const fault = listFault(files) ?? (digestOf(files) === digest ? undefined : "its files are those of another digest");
  if (fault !== undefined) throw badPack(digest, fault);
  return files;
}

/** Returns the end of a sentence about an invalid pack. Files have to be in order, because the digest depends on it. */
function listFault(files: readonly HashedFile[]): string | undefined {
  if (files.length > skillLimits.files) return `it has more than ${skillLimits.files} files`;
  let [bytes, before] = [0, ""];
  for (const { path, size_bytes } of files) {
    const segments = path.split("/");
    const fault = remotePathFault(path) ?? segments.map(fileNameFault).find((one) => one !== undefined);
    if (fault !== undefined) return `the path ${JSON.stringify(path.slice(0, 120))} ${fault}`;
    if (path === signatureFile || segments.some(isHiddenName)) return `${JSON.stringify(path)} is no file of a skill`;
    if (before !== "" && byCodePoint(before, path) >= 0) return `${JSON.stringify(path)} is out of order`;
    if ((bytes += size_bytes) > skillLimits.bytes)
      return `it has more than ${skillLimits.bytes / 1024 / 1024} MiB of files`;
    before = path;
  }
  return undefined;
}

/** Returns the error for the files of a digest; `fault` ends a sentence about them. */
export function badPack(digest: string, fault: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `The files of ${digest} in the database cannot be used: ${fault}.`);
}

/** Converts a digest into its form in the database. Throws SOURCE_INVALID for an invalid digest. */
export function digestBytes(digest: string): Buffer {
  if (!digestForm.test(digest)) throw new SkillsError("SOURCE_INVALID", `${JSON.stringify(digest)} is no digest.`);
  return Buffer.from(digest.slice("sha256:".length), "hex");
}
