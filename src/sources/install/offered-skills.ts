import { shortList } from "../../base/text/code-points.ts";
import { nearest } from "../../base/text/nearest.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { lockedSource } from "../lock/locked-source.ts";
import { type LockEntry, type LockForm, computedHash, fileDigests } from "../lock.ts";
import { inParallel } from "../../base/promises.ts";
import { type InspectedSkill, inspectSkill } from "./inspect-skill.ts";
import type { Level } from "../../skills/rules.ts";
import type { RemoteIndex, RemoteSkill, SkillFile, SourceReader } from "../reader.ts";
import type { Source } from "../source.ts";

/** A skill of a source, downloaded and validated. */
export interface Downloaded {
  readonly remote: RemoteSkill;
  readonly files: readonly SkillFile[];
  readonly inspected: InspectedSkill;
}

const downloadsAtOnce = 4;

/** The skills of these names. Throws SKILL_NOT_FOUND with the nearest names. */
export function chooseSkills({ source, skills }: RemoteIndex, names: readonly string[]): readonly RemoteSkill[] {
  return [...new Set(names)].map((name) => {
    const found = skills.find((skill) => skill.name === name) ?? skills.find(({ id }) => id === name);
    if (found !== undefined) return found;
    const offered = skills.map((skill) => skill.name);
    const close = nearest(name, offered, { count: 3 });
    const all = offered.length === 0 ? "it offers no skills" : `it offers ${shortList(offered, 10)}`;
    const advice = close.length === 0 ? all : `did you mean ${close.join(" or ")}?`;
    throw new SkillsError("SKILL_NOT_FOUND", `${source.label} does not offer ${name}; ${advice}`);
  });
}

export interface Downloading {
  readonly reader: SourceReader;
  /** One with an error at this level of `acp-skills check` is refused; default: only what no agent would be offered is. */
  readonly level?: Level | undefined;
  readonly signal: AbortSignal;
}

/** Downloads and validates a skill. What is wrong with it is `why`, a sentence without its name. */
export async function download(
  remote: RemoteSkill,
  { reader, level, signal }: Downloading,
): Promise<Downloaded | { readonly remote: RemoteSkill; readonly why: string }> {
  try {
    if (remote.content.type === "unusable") return { remote, why: remote.content.why };
    const files = await reader.skillFiles(remote, signal);
    const inspected = await inspectSkill(files, remote.name, level);
    const error = level === undefined ? undefined : inspected.problems.find(({ severity }) => severity === "error");
    if (error === undefined) return { remote, files, inspected };
    return { remote, why: `acp-skills check --level ${level} reports ${error.code}: ${error.message}` };
  } catch (error) {
    signal.throwIfAborted();
    if (isSkillsError(error)) return { remote, why: error.message };
    throw error;
  }
}

/** The same for many, a few at a time, in their order. */
export function downloadAll(
  remotes: readonly RemoteSkill[],
  downloading: Downloading,
): Promise<readonly Awaited<ReturnType<typeof download>>[]> {
  return inParallel(remotes, downloadsAtOnce, (remote) => download(remote, downloading));
}

/** What the lock says of a downloaded skill. */
export function entryOf(
  index: RemoteIndex,
  { remote, files, inspected }: Downloaded,
  {
    form,
    key,
    now,
    before,
  }: { readonly form: LockForm; readonly key: string; readonly now: string; readonly before: LockEntry | undefined },
): LockEntry {
  const hash = computedHash(files);
  const digests = fileDigests(files);
  const from = lockedSource(index, remote, files, form);
  return {
    ...from,
    ...(form === "project"
      ? { computedHash: hash }
      : {
          // Of a well-known source, the skills package leaves it empty.
          skillFolderHash: from.sourceType === "well-known" ? "" : hash,
          installedAt: before?.installedAt ?? now,
          updatedAt: now,
        }),
    version: inspected.version,
    digest: inspected.digest,
    ...(remote.name !== key && { name: remote.name }),
    ...(digests !== undefined && { files: digests }),
  };
}

/** What a source offers now. */
export async function readNow(reader: SourceReader, source: Source, signal: AbortSignal): Promise<RemoteIndex> {
  const index = await reader.read(source, undefined, signal);
  if (index === undefined) throw new TypeError("not asked whether it changed");
  return index;
}

/** Why something was not done with a skill. */
export interface Reason {
  readonly name: string;
  readonly why: string;
}

const mostNamed = 5;

/** Each reason once with all of its skills: `a, b and 3 more: why`. */
export function reasonLines(reasons: readonly Reason[], between = ""): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { name, why } of reasons) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names].map(([why, all]) => `${shortList(all, mostNamed)}${between}: ${why}`);
}
