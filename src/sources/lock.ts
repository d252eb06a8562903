import { createHash } from "node:crypto";
import { type JsonEntry, type JsonNode, parseJsonNode, rangeOf, valueOf } from "../base/json/json-text.ts";
import { SkillsError } from "../base/errors.ts";
import type { InstalledFiles } from "./lock/read-installed.ts";
import type { SkillFile } from "./reader.ts";
import { type Signer, toSigner } from "../skills/signature.ts";

export { directoryName } from "../skills/skill.ts";

/** The form of a lock: the `skills` package has two lock files. */
export type LockForm = "project" | "global";

/** An installed skill in a lock that acp-skills or the `skills` package wrote. Keys are that package's unless marked "acp-skills:". */
export interface LockEntry {
  /** `owner/repo`, the URL of a repository, a host, or a path. */
  readonly source: string;
  readonly sourceType: string;
  readonly sourceUrl?: string;
  /** A branch, tag or commit, as the user typed it. */
  readonly ref?: string;
  /** The path of SKILL.md in a repository. */
  readonly skillPath?: string;
  /** In a project's lock only: see the function `computedHash`. */
  readonly computedHash?: string;
  /** In a global lock only: the id of a git tree, the same as `computedHash`, or empty. */
  readonly skillFolderHash?: string;
  /** In a global lock only: the URL that the user typed. */
  readonly sourceBaseUrl?: string;
  readonly wellKnownDigest?: string;
  /** In a global lock only: the time of the installation, in ISO 8601. */
  readonly installedAt?: string;
  readonly updatedAt?: string;
  readonly version?: string;
  /** acp-skills: the full id of the commit. */
  readonly commit?: string;
  /** acp-skills: the immutable version in a source with a scheme of its own, in the notation of its kind. */
  readonly pin?: string;
  /** acp-skills: the digest of the skill, as `describe_skill` reports it. */
  readonly digest?: string;
  /** acp-skills: the source's name for the skill, if that is not the entry's key. */
  readonly name?: string;
  /** acp-skills: the signer at the installation; only the user may accept another signer, or none. */
  readonly signer?: Signer;
  /** acp-skills: the sha256 of each file, in hexadecimal; absent for a skill of many files. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The content of a lock file. Immutable. */
export interface Lock {
  readonly form: LockForm;
  /** The entries in the order of the file, with keys that acp-skills does not know. */
  readonly entries: ReadonlyMap<string, LockEntry>;
  /** The keys of the file besides `version` and `skills`. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The known keys, in the order in which the `skills` package writes them; then those of acp-skills. */
const lockKeys: Readonly<Record<LockForm, readonly (keyof LockEntry)[]>> = {
  project: [
    ...(["source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest"] as const),
    ...(["version", "commit", "pin", "digest", "name", "signer", "files"] as const),
  ],
  global: [
    ...(["source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "sourceBaseUrl"] as const),
    ...([
      "wellKnownDigest",
      "installedAt",
      "updatedAt",
      "version",
      "commit",
      "pin",
      "digest",
      "name",
      "signer",
      "files",
    ] as const),
  ],
};

/** The maximum number of files of a skill whose digests are locked; for a skill with more files none are. */
const maxLockedFiles = 200;

export function emptyLock(form: LockForm): Lock {
  return { form, entries: new Map(), others: {} };
}

/** Returns the lock with an entry added or replaced. Unknown keys are preserved. */
export function withEntry(lock: Lock, key: string, entry: LockEntry): Lock {
  const known: readonly string[] = lockKeys[lock.form];
  const unknown = Object.entries(lock.entries.get(key) ?? {}).filter(([name]) => !known.includes(name));
  const merged = Object.fromEntries([...Object.entries(knownOf(lock.form, entry)), ...unknown]);
  return { ...lock, entries: new Map(lock.entries).set(key, merged as unknown as LockEntry) };
}

/** Returns the known keys of an entry, in their order. */
export function knownOf(form: LockForm, entry: LockEntry): Partial<LockEntry> {
  const { files } = entry;
  const sorted = files && Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const all = { ...entry, files: sorted };
  return Object.fromEntries(lockKeys[form].flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
}

export function withoutEntry(lock: Lock, key: string): Lock {
  return { ...lock, entries: new Map([...lock.entries].filter(([name]) => name !== key)) };
}

/** The version of each form that is read and written. */
const lockVersions: Readonly<Record<LockForm, number>> = { project: 1, global: 3 };

/** The forms of values that are compared: a malformed one would look like a changed skill. */
const shapes: Partial<Record<keyof LockEntry, { readonly shape: RegExp; readonly what: string }>> = {
  digest: { shape: /^sha256:[0-9a-f]{64}$/, what: "sha256: and 64 hexadecimal digits" },
  commit: { shape: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, what: "the 40 or 64 hexadecimal digits of a commit" },
};
const sha256Form = /^[0-9a-f]{64}$/;
const restore = "Restore the file from version control, or correct it.";

/**
 * Parses a lock. Throws SOURCE_INVALID, with the position and a remedy, for anything that could not be written back without a loss. A
 * damaged or edited lock is never replaced.
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
        ({ node: { type }, node: file }) => type !== "scalar" || !sha256Form.test(String(valueOf(file))),
      );
      if (wrong !== undefined) refuse(wrong.node, "a digest of a file must be 64 hexadecimal digits", restore);
    } else if (key === "signer") {
      if (toSigner(value) === undefined)
        refuse(field.node, '"signer" must be {"key": …} or {"identity": …, "issuer": …}', restore);
    } else if (typeof value !== "string") refuse(field.node, `"${key}" must be a string`, restore);
    else if (shapes[key]?.shape.test(value) === false)
      refuse(field.node, `"${key}" must be ${shapes[key].what}`, restore);
  }
  // Checked above.
  return valueOf(node) as LockEntry;
}

/**
 * Writes a lock as the `skills` package does, with two spaces. A project's lock is sorted by code unit and has a line end; a global lock
 * has the order of installation and no line end.
 */
export function toLockText({ form, entries, others }: Lock): string {
  const keys = form === "project" ? [...entries.keys()].sort() : [...entries.keys()];
  const skills = Object.fromEntries(keys.map((key) => [key, entries.get(key)]));
  const text = JSON.stringify({ version: lockVersions[form], skills, ...others }, null, 2);
  return form === "project" ? `${text}\n` : text;
}

/** The differences between an installed skill and its lock, as sorted paths. `hashes`: which of `digest` and `computedHash` do not fit. */
export type LockDifference = Readonly<Record<"missing" | "changed" | "added" | "hashes", readonly string[]>>;

/** Computes the sha256 of each file, as it is locked; undefined for too many files. */
export function fileDigests(files: readonly SkillFile[]): Readonly<Record<string, string>> | undefined {
  if (files.length > maxLockedFiles) return undefined;
  return Object.fromEntries(files.map(({ path, bytes }) => [path, sha256(bytes)]));
}

/**
 * Compares an installed skill with the lock; undefined if they are the same. `digest`: that of the installed skill, if the lock has one.
 * Files are compared one by one if the lock has their digests.
 */
export function lockDifferenceOf(
  entry: LockEntry,
  { files, others }: InstalledFiles,
  digest: string | undefined,
): LockDifference | undefined {
  const hashes = [
    ...(entry.digest !== undefined && digest !== entry.digest ? ["digest"] : []),
    ...(isHash(entry.computedHash) && computedHash(files) !== entry.computedHash ? ["computedHash"] : []),
  ];
  const locked = new Map(Object.entries(entry.files ?? {}));
  const found = new Map(entry.files === undefined ? [] : files.map(({ path, bytes }) => [path, sha256(bytes)]));
  const missing = [...locked.keys()].filter((path) => !found.has(path)).sort();
  const changed = [...locked]
    .flatMap(([path, hash]) => (found.has(path) && found.get(path) !== hash ? [path] : []))
    .sort();
  // The hash of the skills package does not cover some files that runs get.
  const uncovered =
    entry.digest === undefined && isHash(entry.computedHash) ? files.filter((file) => !isHashed(file)) : [];
  const unlocked = [...found.keys(), ...uncovered.map(({ path }) => path)].filter((path) => !locked.has(path));
  // Neither the skills package nor acp-skills installs links.
  const added = [...new Set([...unlocked, ...others])].sort();
  const isSame = [hashes, missing, changed, added].every((list) => list.length === 0);
  return isSame ? undefined : { missing, changed, added, hashes };
}

/** Whether two lists have the same paths and bytes. Computed hashes cannot answer that: they have no separators. */
export function hasSameFiles(one: readonly SkillFile[], other: readonly SkillFile[]): boolean {
  const bytes = new Map(one.map((file) => [file.path, file.bytes]));
  const isThere = ({ path, bytes: wanted }: SkillFile): boolean => {
    const found = bytes.get(path);
    return found !== undefined && Buffer.compare(found, wanted) === 0;
  };
  return one.length === other.length && other.every(isThere);
}

/** Returns the source of a skill as users see it. */
export function shownSource({ source, sourceUrl = source, pin }: LockEntry): string {
  return pin === undefined ? sourceUrl : source;
}

/** Whether the lock has a hash of the skill's bytes. */
export function isVerifiable({ computedHash: hash, digest }: LockEntry): boolean {
  return isHash(hash) || digest !== undefined;
}

function isHash(text: string | undefined): text is string {
  return text !== undefined && sha256Form.test(text);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The order of the `skills` package in its default locale; that package sorts in the locale of its process. */
const { compare } = new Intl.Collator("en-US");

/**
 * Computes the `computedHash` of the `skills` package, over the paths and bytes that it reads. There are no separators, lengths or modes,
 * so different skills can have the same one; the `digest` covers more.
 */
export function computedHash(files: readonly Pick<SkillFile, "path" | "bytes">[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files.filter(isHashed).sort((a, b) => compare(a.path, b.path)))
    hash.update(path).update(bytes);
  return hash.digest("hex");
}

/** Whether `computedHash` covers a file: directories named `.git` and `node_modules` are left out at any depth. */
function isHashed({ path }: Pick<SkillFile, "path">): boolean {
  return !/(?:^|\/)(?:\.git|node_modules)\//.test(path);
}
