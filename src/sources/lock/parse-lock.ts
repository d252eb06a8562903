import { type JsonEntry, type JsonNode, parseJsonNode, rangeOf, valueOf } from "../../base/json/json-text.ts";
import { SkillsError } from "../../base/errors.ts";
import { type Lock, type LockEntry, type LockForm, lockKeys } from "../lock.ts";

/** The versions that are read and written. */
const lockVersions: Readonly<Record<LockForm, number>> = { project: 1, global: 3 };

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
  for (const [key, { node }] of objectAt(skills, '"skills"', refuse))
    entries.set(key, toEntry(node, objectAt(node, JSON.stringify(key), refuse), form, refuse));
  const others = [...top].filter(([key]) => key !== "version" && key !== "skills");
  return { form, entries, others: Object.fromEntries(others.map(([key, { node }]) => [key, valueOf(node)])) };
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
  }
  // Checked above.
  return valueOf(node) as LockEntry;
}

/**
 * A lock as text, as the `skills` package writes it: two spaces; a project's sorted by code unit and with a line end, a global one in the
 * order in which skills were installed and without.
 */
export function toLockText({ form, entries, others }: Lock): string {
  const keys = form === "project" ? [...entries.keys()].sort() : [...entries.keys()];
  const skills = Object.fromEntries(keys.map((key) => [key, entries.get(key)]));
  const text = JSON.stringify({ version: lockVersions[form], skills, ...others }, null, 2);
  return form === "project" ? `${text}\n` : text;
}
