import type { CopiedFile } from "./approvals.ts";
import type { ChangedFile } from "./question.ts";

/** The files that differ, in order of paths; the texts of those that have one. */
export function changesOf(before: readonly CopiedFile[], after: readonly CopiedFile[]): readonly ChangedFile[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths
    .filter((path) => old.get(path)?.sha256 !== now.get(path)?.sha256)
    .map((path) => ({ path, before: old.get(path)?.text, after: now.get(path)?.text }));
}
