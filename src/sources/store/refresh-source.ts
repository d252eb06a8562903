import { createHash } from "node:crypto";
import { byCodePoint } from "../../base/text/code-points.ts";
import { inParallel } from "../../base/promises.ts";
import { isSameRepository } from "../lock/locked-source.ts";
import type { RemoteContent, RemoteIndex, RemoteSkill, SeenBefore, SourceReader } from "../reader.ts";
import type { SourceCopies } from "./source-copies.ts";
import type { CopiedSkill, SourceState } from "./store-paths.ts";
import type { YoungVersions } from "./young-versions.ts";

export const sourceLimits = {
  /** The maximum number of skills of one source. */
  skills: 10_000,
  /** The maximum size of all sources together, unpacked. */
  bytes: 2 * 1024 * 1024 * 1024,
  /** The maximum number of problems that are stored; the rest is a count. */
  problems: 50,
} as const;

export interface RefreshSourceOptions {
  readonly copies: SourceCopies;
  readonly reader: SourceReader;
  readonly signal: AbortSignal;
  readonly young: YoungVersions;
}

const downloadsAtOnce = 4;
/** The number of copies after which they become visible, before a large source is read completely. */
const copiesAtOnce = 100;

/**
 * Reads a source once and updates its copies. A skill that cannot be downloaded retains its old version and becomes a problem; a skill
 * that is no longer listed is removed. Throws if the source cannot be read: then the copies stay as they are.
 */
export async function refreshSource(options: RefreshSourceOptions): Promise<SourceState> {
  const { copies, reader, signal } = options;
  const { now } = copies;
  const before = await withoutDamaged(copies, signal);
  const index = await reader.read(copies.source, seenBefore(before), signal);
  if (index === undefined) return await copies.change((state) => succeeded(state, now()));
  const round = openRound(index, before, options);
  const listed = index.skills.slice(0, sourceLimits.skills);
  for (let start = 0; start < listed.length; start += copiesAtOnce) {
    await round.copy(listed.slice(start, start + copiesAtOnce));
    // Without etags, because the next steps may fail, and the source must then be read again.
    const isLast = start + copiesAtOnce >= listed.length;
    if (!isLast) await copies.change((state) => ({ ...state, ...unseen, skills: round.merged(state.skills) }));
  }
  options.young.save();
  const { commit, etags } = index;
  return await copies.change((state) => ({
    ...succeeded(state, now()),
    ...(round.isComplete() ? { commit, etags } : unseen),
    problems: limited(round.problems),
    skills: round.merged(index.isPartial === true ? state.skills : []),
  }));
}

/** Collects the copies from one read of an index. */
function openRound(index: RemoteIndex, state: SourceState, { copies, reader, young, signal }: RefreshSourceOptions) {
  const problems = [...index.problems];
  const stored = new Map<string, CopiedSkill>();
  const slugs = new Map<string, string>();
  const known: ReadonlyMap<string, CopiedSkill> = new Map(state.skills.map((skill) => [skill.name, skill]));
  let copiedBytes = copies.otherBytes();
  let isComplete = index.isPartial !== true;
  const surplus = index.skills.length - sourceLimits.skills;
  if (surplus > 0)
    problems.push(
      `It lists ${index.skills.length} skills; the last ${surplus} are left out: the limit is ${sourceLimits.skills}`,
    );

  /** Merges the new copies with the other old ones; ordered by name. */
  function merged(before: readonly CopiedSkill[]): readonly CopiedSkill[] {
    const all = new Map(before.filter(({ slug }) => !slugs.has(slug)).map((skill) => [skill.name, skill]));
    for (const [name, skill] of stored) all.set(name, skill);
    return [...all.values()].sort((one, other) => byCodePoint(one.name, other.name));
  }

  /** Copies skills. They are stored in the order of the index, so that of two skills with one slug always the same is stored. */
  async function copy(listed: readonly RemoteSkill[]): Promise<void> {
    const outcomes = await inParallel(listed, downloadsAtOnce, (skill) => copyOne(skill));
    for (const [index, skill] of listed.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) keep(skill, outcome);
    }
  }

  /** Copies a skill. Returns a sentence if there is no new copy; undefined if acp-skills cannot use the skill, which is no fault. */
  async function copyOne(skill: RemoteSkill): Promise<CopiedSkill | string | undefined> {
    const { name, content } = skill;
    if (content.type === "unusable") {
      if (!problems.some((problem) => problem.includes(content.why))) problems.push(`${shown(name)}: ${content.why}`);
      return undefined;
    }
    const pin = pinOf(content);
    const before = known.get(name);
    if (before !== undefined && pin !== undefined && before.pin === pin && copies.store.has(before)) return before;
    if (pin !== undefined && isHeld(skill, pin, before)) return before;
    try {
      const room = sourceLimits.bytes - copiedBytes;
      if (room <= 0) throw new Error(`all sources together may have ${sourceLimits.bytes / 1024 ** 3} GiB`);
      const copy = await copies.store.put(name, await reader.skillFiles(skill, signal), signal);
      if (pin === undefined && isHeld(skill, copy.digest, before)) return before;
      const isOfSource = content.type === "git" && isSameRepository(content.repository, copies.source.url);
      return { name, ...copy, ...(isOfSource && { commit: content.commit }), ...(pin !== undefined && { pin }) };
    } catch (error) {
      signal.throwIfAborted();
      // The next read may succeed, without a change of the index.
      isComplete = false;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Whether a new version is too young to replace the copy of an older one, which stays. */
  function isHeld(
    { name, publishedAt }: RemoteSkill,
    id: string,
    before: CopiedSkill | undefined,
  ): before is CopiedSkill {
    if (before === undefined || (before.pin ?? before.digest) === id) return false;
    const why = young.heldBack({ name, id, publishedAt });
    if (why === undefined) return false;
    problems.push(`${shown(name)}: a newer version ${why}`);
    isComplete = false;
    return true;
  }

  function keep(skill: RemoteSkill, outcome: CopiedSkill | string): void {
    const old = known.get(skill.name);
    const isNew = typeof outcome !== "string";
    const note = old === undefined ? "" : "; the copy of before stays in use";
    if (!isNew) problems.push(`${shown(skill.name)}: ${outcome.replace(/\.$/, "")}${note}`);
    const copied = isNew ? outcome : old;
    if (copied === undefined) return;
    const first = slugs.get(copied.slug);
    if (first !== undefined) {
      problems.push(`${shown(skill.name)}: it is named ${copied.slug}, as ${shown(first)} is; it is left out`);
      return;
    }
    slugs.set(copied.slug, skill.name);
    stored.set(skill.name, copied);
    copiedBytes += copied.bytes;
  }

  return { problems, merged, copy, isComplete: () => isComplete };
}

/** Discards copies whose bytes no longer have their digest, so that they are downloaded again. */
async function withoutDamaged(copies: SourceCopies, signal: AbortSignal): Promise<SourceState> {
  const state = copies.state();
  const damaged = await damagedIn(copies, signal);
  if (damaged.length === 0) return state;
  for (const skill of damaged) copies.store.discard(skill);
  const names = new Set(damaged.map(({ name }) => name));
  return { ...state, ...unseen, skills: state.skills.filter(({ name }) => !names.has(name)) };
}

/** Returns the copies whose bytes do not have their digest. */
export async function damagedIn(copies: SourceCopies, signal: AbortSignal): Promise<readonly CopiedSkill[]> {
  const damaged: CopiedSkill[] = [];
  for (const skill of copies.state().skills) if (!(await copies.store.isWhole(skill, signal))) damaged.push(skill);
  return damaged;
}

function seenBefore({ etags, commit, skills }: SourceState): SeenBefore | undefined {
  // A skill without a digest in its index is compared by downloading it.
  if (etags === undefined && commit === undefined) return undefined;
  if (skills.some(({ pin }) => pin === undefined)) return undefined;
  return { etags, commit };
}

/** Returns a text that is equal while the bytes are; undefined if only the bytes can be compared. */
function pinOf(content: RemoteContent): string | undefined {
  const isPinned =
    content.type === "files"
      ? content.files.every(({ digest }) => digest !== undefined)
      : content.type === "git" || content.type === "api" || content.type === "pinned" || "digest" in content;
  return isPinned ? createHash("sha256").update(JSON.stringify(content)).digest("hex") : undefined;
}

function succeeded(state: SourceState, now: number): SourceState {
  return { ...state, failure: undefined, lastLook: now, lastGood: now, failures: 0 };
}

/** The fields of a state whose source must be read again, even if it declares no change. */
const unseen = { commit: undefined, etags: undefined };

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 128));
}

function limited(problems: readonly string[]): readonly string[] {
  const more = problems.length - sourceLimits.problems;
  return more <= 0 ? problems : [...problems.slice(0, sourceLimits.problems), `… and ${more} more problems`];
}
