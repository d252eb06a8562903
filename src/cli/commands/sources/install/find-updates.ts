import { isSkillsError } from "../../../../errors.ts";
import { inParallel } from "../../../../base/promises/in-parallel.ts";
import { computedHash } from "../../../../remote/lock/computed-hash.ts";
import { findLocked, sourceOfEntry } from "../../../../remote/lock/locked-source.ts";
import type { LockEntry } from "../../../../remote/lock/lock.ts";
import type { RemoteIndex, RemoteSkill } from "../../../../remote/remote-skill.ts";
import type { Source } from "../../../../remote/source.ts";
import { stateOf } from "./installed-state.ts";
import type { InstalledState } from "./installed-state.ts";
import { download } from "./offered-skills.ts";
import type { Downloaded } from "./offered-skills.ts";
import { readNow } from "./with-reader.ts";
import type { SourceReader } from "../../../../remote/reader/source-reader.ts";

/** What the source of a locked skill has now. */
export type Latest =
  | { readonly state: "current" }
  /** `updated`: other bytes than in the lock. `missing`: not on disk. */
  | { readonly state: "updated" | "missing"; readonly downloaded: Downloaded; readonly index: RemoteIndex }
  /** `skipped`: its source cannot be asked. `gone`: not offered any more. `failed`: the source, or what it sent, cannot be used. */
  | { readonly state: "skipped" | "gone" | "failed"; readonly why: string };

export interface LookedUp {
  readonly key: string;
  readonly entry: LockEntry;
  /** As people see it. */
  readonly source: string;
  readonly installed: InstalledState;
  readonly latest: Latest;
}

export interface Looking {
  readonly entries: readonly (readonly [key: string, entry: LockEntry])[];
  /** The real path of the directory of skills; undefined if it is missing. */
  readonly skills: string | undefined;
  readonly reader: SourceReader;
  /** Of `--source`: for entries whose URL is not whole. */
  readonly typed: readonly Source[];
  readonly signal: AbortSignal;
}

const atOnce = 4;

/** Asks each source once, and downloads what may have changed. One source that cannot be read does not hide the others. */
export async function findUpdates({ entries, skills, reader, typed, signal }: Looking): Promise<readonly LookedUp[]> {
  const indexes = new Map<string, Promise<RemoteIndex>>();
  const readOnce = (source: Source): Promise<RemoteIndex> => {
    const key = JSON.stringify([source.kind, source.url, source.ref ?? ""]);
    const known = indexes.get(key) ?? readNow(reader, source, signal);
    indexes.set(key, known);
    return known;
  };
  return await inParallel(entries, atOnce, async ([key, entry]): Promise<LookedUp> => {
    const installed = await stateOf(skills, key, entry);
    const source = sourceOfEntry(entry, typed[0]);
    if ("why" in source) {
      const state = source.isGivable === true ? "failed" : "skipped";
      return { key, entry, installed, source: entry.source, latest: { state, why: source.why } };
    }
    const looked = { key, entry, installed, source: source.label };
    try {
      const index = await readOnce(source);
      return { ...looked, latest: await findLatest(looked, index, { reader, signal }) };
    } catch (error) {
      signal.throwIfAborted();
      if (!isSkillsError(error)) throw error;
      return { ...looked, latest: { state: "failed", why: error.message } };
    }
  });
}

async function findLatest(
  { key, entry, installed, source }: Omit<LookedUp, "latest">,
  index: RemoteIndex,
  { reader, signal }: Pick<Looking, "reader" | "signal">,
): Promise<Latest> {
  const remote = findLocked(key, entry, index);
  const isMissing = installed.state === "missing";
  if (remote === undefined) {
    if (index.isPartial === true) return { state: "failed", why: `${source} could not be read completely` };
    return { state: "gone", why: `${source} does not offer it any more` };
  }
  if (!isMissing && isKnown(remote, entry)) return { state: "current" };
  const downloaded = await download(remote, reader, signal);
  if ("why" in downloaded) return { state: "failed", why: downloaded.why };
  const { inspected, files } = downloaded;
  const isSame =
    entry.digest === undefined ? computedHash(files) === entry.computedHash : inspected.digest === entry.digest;
  if (isSame && !isMissing) return { state: "current" };
  return { state: isSame ? "missing" : "updated", downloaded, index };
}

/** Whether the index alone says that its bytes are those of the lock. */
function isKnown({ content }: RemoteSkill, { digest, commit, wellKnownDigest }: LockEntry): boolean {
  if (content.type === "git") return digest !== undefined && content.commit === commit;
  return (
    (content.type === "archive" || content.type === "skill-md") &&
    content.digest !== undefined &&
    content.digest === wellKnownDigest
  );
}

/** A version that people can tell from another: with a part of the commit, or of the digest, behind it. */
export function versionWords({
  version,
  commit,
  digest,
}: {
  readonly version?: string | undefined;
  readonly commit?: string | undefined;
  readonly digest?: string | undefined;
}): string {
  const exact = commit?.slice(0, 7) ?? digest?.replace(/^sha256:/, "").slice(0, 7);
  return (
    [version, exact === undefined ? undefined : `(${exact})`].filter((word) => word !== undefined).join(" ") ||
    "unknown"
  );
}

/** Of what was downloaded. */
export function latestWords({ remote: { content }, inspected: { version, digest } }: Downloaded): string {
  return versionWords({ version, digest, commit: content.type === "git" ? content.commit : undefined });
}
