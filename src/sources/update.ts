import path from "node:path";
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { isSkillsError, undefinedIfOurs } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";
import { inParallel } from "../base/promises.ts";
import { type AddressRules, addressRules } from "./fetch/address-rules.ts";
import { type LockEntry, computedHash, fileDigests, isVerifiable } from "./lock.ts";
import { signatureFile } from "../skills/skill.ts";
import { sourceKindOf, type Source, isLoopbackHost } from "./source.ts";
import { type NamedSources, confirmSource, findLocked, sourceRefusal, sourceOfEntry } from "./lock/locked-source.ts";
import type { InstallScope } from "./install-scope.ts";
import { type InstalledState, lossWords, stateOf } from "./installed.ts";
import type { RemoteIndex, RemoteSkill, SkillFile } from "./reader.ts";
import { openYoungVersions } from "./store/young-versions.ts";
import { type ChangedFile, type CopiedFile, changesOf, toCopy } from "../skills/files.ts";
import { beyond, noCapabilities } from "../skills/permissions.ts";
import {
  type ConfirmedInstall,
  type Downloaded,
  type Downloading,
  type SignerTerms,
  download,
  readNow,
  reasonLines,
  renameWords,
  sameFiles,
  signerRefusal,
  wantedWords,
} from "./install.ts";
import { type InspectedSkill, inspectSkill } from "../skills/check.ts";

/** The reason to restore a skill on disk from the lock. */
export type Restorable = "missing" | "changed";

/** The current state of a locked skill at its source. */
export type Latest =
  | { readonly state: "current" }
  /** `updated`: other bytes than in the lock. `missing`, `changed`: the bytes of the lock, which are not on disk. */
  | { readonly state: "updated" | Restorable; readonly downloaded: Downloaded; readonly index: RemoteIndex }
  /**
   * `skipped`: the source cannot be contacted. `gone`: no longer offered. `failed`: the source, or its content, is unusable. `held`: there
   * is another version, too young for the policy.
   */
  | { readonly state: "skipped" | "gone" | "failed" | "held"; readonly why: string };

export interface UpdateLookup {
  readonly key: string;
  readonly entry: LockEntry;
  /** The source as users see it. */
  readonly source: string;
  readonly installed: InstalledState;
  readonly latest: Latest;
}

interface FindUpdatesOptions extends Downloading {
  readonly where: InstallScope;
  readonly entries: readonly (readonly [key: string, entry: LockEntry])[];
  /** The real path of the skills directory; undefined if it is missing. */
  readonly skills: string | undefined;
  readonly named: NamedSources;
  /** The values of `--allow-private`. */
  readonly allowPrivate: readonly string[] | undefined;
  /** The states in which skills are downloaded even if the lock has the bytes of the source. */
  readonly restored: readonly Restorable[];
  /** Whether only the locked bytes count: those of the locked commit, if there is one. An unchanged skill is not requested. */
  readonly isExact?: boolean;
  /** How many days old a version must be; default: 0. */
  readonly minimumDays?: number;
  /** Returns the time in milliseconds since 1970. */
  readonly now?: () => number;
}

const atOnce = 4;

/** Reads each source once, and downloads skills that may have changed. A source that cannot be read does not hide the others. */
export async function findUpdates(search: FindUpdatesOptions): Promise<readonly UpdateLookup[]> {
  const { where, entries, skills, reader, named, allowPrivate = [], signal } = search;
  const rules = addressRules({ allowPrivate, typed: named.typed.map(({ url }) => url), ownAddresses: () => [] });
  for (const source of named.given) confirmSource(where, source);
  const indexes = new Map<string, Promise<RemoteIndex>>();
  const readOnce = (source: Source): Promise<RemoteIndex> => {
    const key = JSON.stringify([source.kind, source.url, source.label]);
    const known = indexes.get(key) ?? readNow(reader, source, signal);
    indexes.set(key, known);
    return known;
  };
  return await inParallel(entries, atOnce, async ([key, entry]): Promise<UpdateLookup> => {
    const installed = await stateOf(skills, key, entry);
    if (search.isExact === true) {
      const latest = withoutAsking(key, entry, installed, search.restored);
      if (latest !== undefined) return { key, entry, installed, source: entry.source, latest };
    }
    const source = sourceOfEntry(entry, named.given);
    if ("why" in source) {
      const state = source.isGivable === true ? "failed" : "skipped";
      return { key, entry, installed, source: entry.source, latest: { state, why: source.why } };
    }
    const checked = { key, entry, installed, source: source.label };
    const refusal = localRefusal(source, rules) ?? sourceRefusal(where, source, named);
    if (refusal !== undefined) return { ...checked, latest: { state: "failed", why: refusal } };
    try {
      const index = await readOnce(search.isExact === true ? atLocked(source, entry) : source);
      const latest = await findLatest(checked, index, search);
      return { ...checked, latest: latest.state === "updated" ? heldBack(latest, search) : latest };
    } catch (error) {
      signal.throwIfAborted();
      if (!isSkillsError(error)) throw error;
      return { ...checked, latest: { state: "failed", why: error.message } };
    }
  });
}

/** Returns the update, or why and until when it is held back. */
function heldBack(
  latest: Extract<Latest, { downloaded: unknown }>,
  { where, minimumDays = 0, now = Date.now }: FindUpdatesOptions,
): Latest {
  const { index, downloaded } = latest;
  const { name, publishedAt } = downloaded.remote;
  const dataDirectory = path.dirname(where.records);
  const young = openYoungVersions(index.source.label, { dataDirectory, minimumDays, now });
  const why = young.heldBack({ name, id: downloaded.inspected.digest, publishedAt });
  young.save();
  return why === undefined ? latest : { state: "held", why: `${latestWords(downloaded)} ${why}` };
}

/** Why a server of this machine is not contacted: others may have written its URL into the lock. Undefined for allowed and other URLs. */
function localRefusal({ url: text, label }: Source, rules: AddressRules): string | undefined {
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || !isLoopbackHost(url.hostname)) return undefined;
  const isAllowed = attempt(() => rules.isAllowed(rules.targetOf(url)), false);
  if (isAllowed) return undefined;
  return `${label} is on this machine, and a project's lock may be written by others; if you trust it, add --allow-private ${url.host}`;
}

async function findLatest(
  { key, entry, installed, source }: Omit<UpdateLookup, "latest">,
  index: RemoteIndex,
  { restored, isExact, ...downloading }: Downloading & Pick<FindUpdatesOptions, "restored" | "isExact">,
): Promise<Latest> {
  const remote = findLocked(key, entry, index);
  const restorable = restored.find((state) => state === installed.state);
  if (remote === undefined) {
    if (index.isPartial === true) return { state: "failed", why: `${source} could not be read completely` };
    return { state: "gone", why: `${source} does not offer it any more` };
  }
  if (restorable === undefined && isKnown(remote, entry)) return { state: "current" };
  const downloaded = await download(remote, index.source, downloading);
  if ("why" in downloaded) return { state: "failed", why: downloaded.why };
  const { inspected, files } = downloaded;
  const isSame =
    entry.digest === undefined
      ? computedHash(files) === entry.computedHash
      : inspected.digest === entry.digest && hasLockedSignature(entry, files);
  const isOther = isVerifiable(entry) ? !isSame : isExact === true && index.commit !== entry.commit;
  if (isOther && isExact === true) {
    const names = entry.digest ?? `the hash ${entry.computedHash ?? ""}`;
    const why = `the lock names ${names}, and ${source} has other bytes now (${inspected.digest}); acp-skills update ${key} takes those`;
    return { state: "failed", why };
  }
  if (isOther || (!isSame && isExact !== true)) return { state: "updated", downloaded, index };
  return restorable === undefined ? { state: "current" } : { state: restorable, downloaded, index };
}

/** Whether a skill has its locked signature, which is among the locked files; the digest of a skill does not cover it. */
function hasLockedSignature({ files: locked }: LockEntry, files: readonly SkillFile[]): boolean {
  return locked === undefined || locked[signatureFile] === fileDigests(files)?.[signatureFile];
}

/** Decides without reading the source: the skill is there as it is locked, or cannot be restored; else undefined. */
function withoutAsking(
  key: string,
  entry: LockEntry,
  installed: InstalledState,
  restored: readonly Restorable[],
): Latest | undefined {
  if (installed.state === "unchanged") return { state: "current" };
  if (!isVerifiable(entry) && entry.commit === undefined) {
    const why = `its entry in the lock pins nothing, neither a commit nor a digest; acp-skills update ${key} installs what its source has now`;
    return { state: "failed", why };
  }
  if (restored.some((state) => state === installed.state)) return undefined;
  return { state: "failed", why: lossWords(installed, "restores") ?? "it cannot be restored" };
}

/** Returns the source as it was locked, if possible. The locked commit of a marketplace is that of the repository that it names. */
function atLocked(source: Source, { commit, pin, sourceType }: LockEntry): Source {
  if (source.kind === "scheme")
    return pin === undefined ? source : (sourceKindOf(source.label)?.at(source, pin) ?? source);
  const isItsOwn = source.kind === "git" && sourceType !== "marketplace";
  return isItsOwn && commit !== undefined ? { ...source, ref: commit } : source;
}

/** Lists the reasons why lookups found no update, each once with all of its skills. */
export function failuresOf(found: readonly UpdateLookup[]): readonly string[] {
  return reasonLines(found.flatMap(({ key, latest }) => ("why" in latest ? [{ name: key, why: latest.why }] : [])));
}

/** Whether the index alone shows that its bytes are those of the lock. */
function isKnown({ content }: RemoteSkill, { digest, commit, pin, wellKnownDigest }: LockEntry): boolean {
  if (content.type === "pinned") return digest !== undefined && content.pin === pin;
  if (content.type === "git") return digest !== undefined && content.commit === commit;
  return (
    (content.type === "archive" || content.type === "skill-md") &&
    content.digest !== undefined &&
    content.digest === wellKnownDigest
  );
}

type VersionFacts = { readonly [Fact in "version" | "commit" | "digest"]?: string | undefined };

/** Describes a version for users: followed by the start of the commit or of the digest, which distinguish it. */
export function versionWords({ version = "", commit, digest }: VersionFacts): string {
  const exact = commit?.slice(0, 7) ?? digest?.replace(/^sha256:/, "").slice(0, 7);
  return `${version}${exact === undefined ? "" : ` (${exact})`}`.trim() || "unknown";
}

/** Describes the downloaded version. */
export function latestWords({ remote: { content }, inspected: { version, digest } }: Downloaded): string {
  return versionWords({ version, digest, commit: content.type === "git" ? content.commit : undefined });
}

/** The changes that an update makes. */
export interface UpdateDiff {
  /** The name in the new files, if it differs from the one in the installed files. */
  readonly renamed: string | undefined;
  /** The requests that only the update has: `network https://api.example.com`. */
  readonly widened: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly texts: readonly ChangedFile[];
}

/** Compares the installed files with those that replace them. */
export async function compareUpdate(
  key: string,
  before: readonly SkillFile[],
  after: readonly SkillFile[],
  inspected: InspectedSkill,
): Promise<UpdateDiff> {
  // An old skill that no agent can use counts as nothing: then every request of the update is new.
  const old = before.length === 0 ? undefined : await inspectSkill(before, key).catch(undefinedIfOurs);
  const wider = beyond(old?.wants ?? noCapabilities, inspected.wants);
  const [olds, news] = [new Set(before.map(({ path }) => path)), new Set(after.map(({ path }) => path))];
  const texts = changesOf(toCopies(before), toCopies(after));
  const paths = texts.map(({ path }) => path);
  const { slug } = inspected;
  const isNamed = old === undefined ? renameWords({ key, slug }) === undefined : old.slug === slug;
  return {
    renamed: isNamed ? undefined : slug,
    widened: wantedWords({
      wants: wider,
      expects: inspected.expects.filter((tool) => old?.expects.includes(tool) !== true),
      hostCommands: inspected.hostCommands.filter((command) => old?.hostCommands.includes(command) !== true),
    }),
    added: paths.filter((path) => !olds.has(path)),
    removed: paths.filter((path) => !news.has(path)),
    changed: paths.filter((path) => olds.has(path) && news.has(path)),
    texts,
  };
}

function toCopies(files: readonly SkillFile[]): readonly CopiedFile[] {
  const copies = files.map(({ path, bytes }): CopiedFile => {
    const isText = isUtf8(bytes) && !bytes.includes(0);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { path, sha256, ...(isText && { text: Buffer.from(bytes).toString("utf8") }) };
  });
  return toCopy(copies) ?? copies.map(({ path, sha256 }) => ({ path, sha256 }));
}

/** Plans the update of an installed skill with the downloaded one. Changes nothing. */
export function planUpdate(
  { key, entry, installed }: Pick<UpdateLookup, "key" | "entry" | "installed">,
  { downloaded, index }: Extract<Latest, { downloaded: unknown }>,
  {
    renamed,
    discardsChanges,
    ...terms
  }: Pick<UpdateDiff, "renamed"> & SignerTerms & { readonly discardsChanges: boolean },
): ConfirmedInstall | { readonly why: string } {
  const { files, signature } = downloaded;
  const signer = signerRefusal(entry, signature, terms);
  if (signer !== undefined) return { why: signer };
  if (renamed !== undefined)
    return { why: `its own files name it ${renamed} now; add that from its source, and remove ${key}` };
  const seen = installed.state === "missing" ? undefined : installed.installed;
  const act = seen === undefined ? "install" : sameFiles(seen, files) ? "adopt" : "replace";
  const loss = act !== "replace" || discardsChanges ? undefined : lossWords(installed, "replaces");
  return loss === undefined ? { act, key, index, downloaded, seen } : { why: loss };
}
