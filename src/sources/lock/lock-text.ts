import { lockKeys, lockVersions } from "./parse-lock.ts";
import type { Lock, LockEntry, LockForm } from "../lock.ts";

/**
 * A lock as text, as the `skills` package writes it: two spaces; a project's sorted by code unit and with a line end, a global one in the
 * order in which skills were installed and without. What did not change keeps its text.
 */
export function toLockText({ form, entries, kept }: Lock): string {
  const keys = form === "project" ? [...entries.keys()].sort() : [...entries.keys()];
  const skills = keys.map((key): Member => {
    const { text = "", unknown = [] } = kept.entries.get(key) ?? {};
    const entry = entries.get(key);
    return [key, entry === undefined || text !== "" ? text : objectText([...membersOf(entry, form), ...unknown], 2)];
  });
  const top: Member[] = [["version", String(lockVersions[form])], ["skills", objectText(skills, 1)], ...kept.top];
  return `${objectText(top, 0)}${form === "project" ? "\n" : ""}`;
}

type Member = readonly [key: string, text: string];

function membersOf(entry: LockEntry, form: LockForm): readonly Member[] {
  return lockKeys[form].flatMap((key) => {
    const value = entry[key];
    if (value === undefined) return [];
    if (typeof value === "string") return [[key, JSON.stringify(value)] as const];
    const files = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      [
        key,
        objectText(
          files.map(([path, digest]) => [path, JSON.stringify(digest)]),
          3,
        ),
      ] as const,
    ];
  });
}

/** As `JSON.stringify(value, null, 2)` at a depth. */
function objectText(members: readonly Member[], depth: number): string {
  if (members.length === 0) return "{}";
  const indent = "  ".repeat(depth);
  return `{\n${members.map(([key, text]) => `${indent}  ${JSON.stringify(key)}: ${text}`).join(",\n")}\n${indent}}`;
}
