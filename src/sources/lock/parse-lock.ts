import { type JsonEntry, type JsonNode, parseJsonNode, rangeOf, valueOf } from "../../base/json/json-text.ts";
import { SkillsError } from "../../base/errors.ts";
import type { Lock, LockEntry, LockForm, PreservedKey } from "../lock.ts";

/** The versions that are read and written. */
const lockVersions: Readonly<Record<LockForm, number>> = { project: 1, global: 3 };

/** The keys that we know, in the order in which the `skills` package writes them; then ours. */
const lockKeys: Readonly<Record<LockForm, readonly (keyof LockEntry)[]>> = {
  project: [
    ...(["source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest"] as const),
    ...(["version", "commit", "digest", "name", "files"] as const),
  ],
  global: [
    ...(["source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "sourceBaseUrl"] as const),
    ...(["wellKnownDigest", "installedAt", "updatedAt", "version", "commit", "digest", "name", "files"] as const),
  ],
};

/** What the values of our keys look like: they are compared, and a wrong one would look like a changed skill. */
const shapes: Partial<Record<keyof LockEntry, { readonly shape: RegExp; readonly what: string }>> = {
  digest: { shape: /^sha256:[0-9a-f]{64}$/, what: "sha256: and 64 hexadecimal digits" },
  commit: { shape: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, what: "the 40 or 64 hexadecimal digits of a commit" },
};
const sha256 = /^[0-9a-f]{64}$/;
const restore = "Restore the file from version control, or correct it.";

/**
 * Reads a lock. Throws SOURCE_INVALID, with the place and what to do, for anything that could not be written back without losing
 * something: a damaged or edited lock is never replaced.
 */
export function parseLock(text: string, file: string, form: LockForm): Lock {
  const refuse = (span: { readonly offset: number; readonly end: number }, message: string, fix: string): never => {
    const { line, column } = rangeOf(text, span);
    const where = { file, line, column };
    throw new SkillsError("SOURCE_INVALID", `${file}:${line}:${column}: ${message}. ${fix}`, { facts: where });
  };
  const conflict = /^(?:<{7}|>{7})(?: |$)/m.exec(text);
  if (conflict !== null) {
    const offset = conflict.index;
    refuse({ offset, end: offset + 7 }, "a merge conflict", "Resolve it, then run acp-skills verify.");
  }
  const root = parseJsonNode(text);
  if ("fault" in root)
    return refuse(root.fault, root.fault.message, `${root.fault.fix} Or restore the file from version control.`);
  const top = objectAt(root, "the lock", refuse);
  const version = top.get("version")?.node;
  const [expected, found] = [lockVersions[form], version?.type === "scalar" ? version.value : undefined];
  if (typeof found !== "number") return refuse(version ?? root, `"version" must be ${expected}`, restore);
  if (found !== expected) {
    const fix =
      found > expected
        ? "Update acp-skills."
        : form === "global"
          ? "It is from an old version of the skills package: update its skills with that, or move the file away."
          : restore;
    refuse(version ?? root, `version ${found} of the lock cannot be read, only ${expected}`, fix);
  }
  const skills = top.get("skills")?.node;
  if (skills === undefined) return refuse(root, '"skills" is missing', restore);
  const entries = new Map<string, LockEntry>();
  const preserved = new Map<string, { readonly text: string; readonly unknown: readonly PreservedKey[] }>();
  const slice = ({ offset, end }: JsonNode): string => text.slice(offset, end);
  for (const [key, { node }] of objectAt(skills, '"skills"', refuse)) {
    const fields = objectAt(node, JSON.stringify(key), refuse);
    entries.set(key, toEntry(node, fields, form, refuse));
    const unknown = [...fields].filter(([name]) => !(lockKeys[form] as readonly string[]).includes(name));
    preserved.set(key, { text: slice(node), unknown: unknown.map(([name, { node: value }]) => [name, slice(value)]) });
  }
  const others = [...top].filter(([key]) => key !== "version" && key !== "skills");
  return { form, entries, preserved: { top: others.map(([key, { node }]) => [key, slice(node)]), entries: preserved } };
}

type Refuse = (span: { readonly offset: number; readonly end: number }, message: string, fix: string) => never;

function objectAt(node: JsonNode, what: string, refuse: Refuse): ReadonlyMap<string, JsonEntry> {
  if (node.type !== "object") return refuse(node, `${what} must be an object`, restore);
  const entries = new Map<string, JsonEntry>();
  for (const entry of node.entries) {
    if (entries.has(entry.key))
      refuse(entry, `${JSON.stringify(entry.key)} occurs twice`, "Remove the one that is not wanted.");
    entries.set(entry.key, entry);
  }
  return entries;
}

function toEntry(node: JsonNode, fields: ReadonlyMap<string, JsonEntry>, form: LockForm, refuse: Refuse): LockEntry {
  const entry: Record<string, unknown> = {};
  for (const key of lockKeys[form]) {
    const field = fields.get(key);
    if (field === undefined) {
      if (key === "source" || key === "sourceType") refuse(node, `"${key}" is missing`, restore);
      continue;
    }
    const value = valueOf(field.node);
    if (key === "files") {
      const files = Object.values(Object.fromEntries(objectAt(field.node, '"files"', refuse)));
      const wrong = files.find(
        ({ node: { type }, node: file }) => type !== "scalar" || !sha256.test(String(valueOf(file))),
      );
      if (wrong !== undefined) refuse(wrong.node, "a digest of a file must be 64 hexadecimal digits", restore);
    } else if (typeof value !== "string") refuse(field.node, `"${key}" must be a string`, restore);
    else if (shapes[key]?.shape.test(value) === false)
      refuse(field.node, `"${key}" must be ${shapes[key].what}`, restore);
    entry[key] = value;
  }
  // Checked above.
  return entry as unknown as LockEntry;
}

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
