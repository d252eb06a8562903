import type { KnownDetail } from "../../source/skill-source.ts";

/** In what two readings of one skill differ, in sentences, so that a person knows before deciding again. */
export function whatChanged(before: KnownDetail, after: KnownDetail): readonly string[] {
  const earlier = new Map(before.files?.map(({ path, sha256 }) => [path, sha256]));
  const later = new Map(after.files?.map(({ path, sha256 }) => [path, sha256]));
  const paths = [...new Set([...earlier.keys(), ...later.keys()])];
  const wished = before.permissions?.wants.words ?? [];
  const wishes = after.permissions?.wants.words ?? [];
  const sentences = [
    ...wishes.filter((words) => !wished.includes(words)).map((words) => `It now wants: ${words}`),
    ...wished.filter((words) => !wishes.includes(words)).map((words) => `It no longer wants: ${words}`),
    ...paths
      .filter((path) => earlier.get(path) !== later.get(path))
      .map((path) => `${path} was ${!earlier.has(path) ? "added" : !later.has(path) ? "removed" : "changed"}.`),
    ...(before.permissions?.isBlocked === after.permissions?.isBlocked
      ? []
      : [after.permissions?.isBlocked === true ? "It was blocked." : "It was unblocked."]),
    ...(before.permissions?.grants.length === after.permissions?.grants.length ? [] : ["Its approvals changed."]),
  ];
  if (sentences.length === 0 && before.digest !== after.digest) return ["Its digest changed."];
  return sentences;
}
