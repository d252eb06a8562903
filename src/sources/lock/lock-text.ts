import { lockKeys, lockVersions } from "./parse-lock.ts";
import type { Lock, LockEntry, LockForm } from "../lock.ts";

/**
 * A lock as text, as the `skills` package writes it: two spaces; a project's sorted by code unit and with a line end, a global one in the
 * order in which skills were installed and without. What did not change keeps its text.
 */
export function toLockText({ form, entries, preserved }: Lock): string {
  const keys = form === "project" ? [...entries.keys()].sort() : [...entries.keys()];
  const skills = keys.map((key): TextEntry => {
    const { text = "", unknown = [] } = preserved.entries.get(key) ?? {};
    const entry = entries.get(key);
    return [
      key,
      entry === undefined || text !== "" ? text : objectText([...textEntriesOf(entry, form), ...unknown], 2),
    ];
  });
  const top: TextEntry[] = [
    ["version", String(lockVersions[form])],
    ["skills", objectText(skills, 1)],
    ...preserved.top,
  ];
  return `${objectText(top, 0)}${form === "project" ? "\n" : ""}`;
}

type TextEntry = readonly [key: string, text: string];

function textEntriesOf(entry: LockEntry, form: LockForm): readonly TextEntry[] {
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
function objectText(members: readonly TextEntry[], depth: number): string {
  if (members.length === 0) return "{}";
  const indent = "  ".repeat(depth);
  return `{\n${members.map(([key, text]) => `${indent}  ${JSON.stringify(key)}: ${text}`).join(",\n")}\n${indent}}`;
}
