import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { byNewestVersion, isPrerelease } from "../manifest.ts";
import type { Problem } from "../rules/problem.ts";
import { type RuleCode, toProblems } from "../rules.ts";
import type { Root } from "./roots.ts";
import type { ScanResult, FoundSkill } from "./scan/scan-memory.ts";
import type { Change, OfferedSkill, Skill, SkillCounts, Snapshot } from "../skill.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { resolveConflicts } from "./assemble/resolve-conflicts.ts";

const none: readonly never[] = Object.freeze([]);
/** Rules that explain why an existing SKILL.md was not read. */
const unreadFile: ReadonlySet<RuleCode> = new Set(["unreadable", "not-a-regular-file", "dangling-symlink"]);
/** Rules that hide an unknown number of skills. */
export const unreadDirectory: ReadonlySet<RuleCode> = new Set<RuleCode>([
  "unreadable",
  "too-many-directories",
  "not-read-in-time",
  "ignored-unsearched",
  "too-deep",
  "skill-ignored",
]);

/**
 * Turns found skills into a snapshot, by precedence: the first root wins. If different skills below one root have one slug, the first
 * retains it and the others get qualified slugs. Reports everything that is not offered. Reuses offers equal to those of `before`.
 */
export function assemble(
  { skills, findings }: ScanResult,
  before?: Snapshot,
): Snapshot & { readonly counts: SkillCounts } {
  /** The first skill of each slug. */
  const firsts = new Map<string, FoundSkill>();
  /** All skills of each slug that several skills have. */
  const conflicts = new Map<string, FoundSkill[]>();
  const problems = toProblems(findings, "lenient");
  const ownProblems = new Map<FoundSkill, readonly Problem[]>();
  for (const found of skills) {
    const { findings: own, skill } = found.record;
    if (own.length > 0) {
      const reported = Object.freeze(toProblems(own, "lenient"));
      ownProblems.set(found, reported);
      problems.push(...reported);
    }
    if (skill === undefined) continue;
    const first = firsts.get(skill.slug);
    const others = conflicts.get(skill.slug);
    if (first === undefined) firsts.set(skill.slug, found);
    else if (others === undefined) conflicts.set(skill.slug, [first, found]);
    else others.push(found);
  }
  const resolved = conflicts.size > 0 ? resolveConflicts(conflicts, new Set(firsts.keys())) : undefined;
  for (const [found, own] of resolved?.findings ?? none) {
    const reported = toProblems(own, "lenient");
    problems.push(...reported);
    ownProblems.set(found, Object.freeze([...(ownProblems.get(found) ?? none), ...reported]));
  }
  const entries = [...(resolved?.entries ?? none)];
  for (const [slug, first] of firsts) if (!conflicts.has(slug)) entries.push({ slug, candidates: [first] });

  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const sources = new Map<readonly Root[], readonly string[]>();
  const offers: OfferedSkill[] = [];
  for (const { slug, candidates } of entries) {
    const newest = candidates.length === 1 ? candidates : candidates.toSorted(byNewest);
    const chosen = newest.find(isRelease) ?? newest[0];
    if (chosen?.record.skill === undefined) continue;
    const skill = withSlug(chosen.record.skill, slug);
    const versions =
      newest.length === 1
        ? [skill]
        : newest.flatMap((one) => (one === chosen ? skill : one.record.skill ? withSlug(one.record.skill, slug) : []));
    const sourcePaths = sources.get(chosen.roots) ?? Object.freeze(chosen.roots.map((root) => root.path));
    sources.set(chosen.roots, sourcePaths);
    const remote = remoteOf(newest);
    const problemsOf = (candidate: FoundSkill): readonly Problem[] => ownProblems.get(candidate) ?? none;
    const offer: OfferedSkill = Object.freeze({
      skill,
      sources: sourcePaths,
      problems: newest.length === 1 ? problemsOf(chosen) : Object.freeze(newest.flatMap(problemsOf)),
      ...(newest.every(isOwn) && { isOwn: true }),
      ...(remote !== undefined && { remote }),
      versions: Object.freeze(versions),
    });
    const same = known.get(slug);
    offers.push(same !== undefined && isSameOffer(same, offer) ? same : offer);
  }
  offers.sort((a, b) => byCodePoint(a.skill.slug, b.skill.slug));
  const counts = countSkills({ skills, findings });
  return Object.freeze({ skills: Object.freeze(offers), problems: Object.freeze(problems), counts });
}

/** A skill under a qualified slug, which also becomes its name, so that names stay unique. */
function withSlug(skill: Skill, slug: string): Skill {
  return skill.slug === slug ? skill : Object.freeze({ ...skill, slug, name: slug, namespace: slug });
}

/**
 * Whether a skill is from the user's own roots. A project skill whose SKILL.md is a symlink into such a root is not, because the
 * rest of its directory belongs to the project.
 */
function isOwn({ record, roots }: FoundSkill): boolean {
  const [first] = roots;
  if (record.path !== record.identity) return first !== undefined && isOwnRoot(first);
  return roots.some(isOwnRoot);
}

/** Whether skills below a root are the user's own: neither a project's nor published by others. */
export function isOwnRoot({ origin }: Pick<Root, "origin">): boolean {
  return origin === "explicit" || origin === "user";
}

/** The origin of a skill, if all its versions were only found where they were published. The first of several sources counts. */
function remoteOf(candidates: readonly FoundSkill[]): Root["remote"] {
  const isLocal = candidates.some(({ roots }) => roots.some(({ origin }) => origin !== "remote"));
  return isLocal ? undefined : candidates[0]?.roots[0]?.remote;
}

function byNewest(a: FoundSkill, b: FoundSkill): number {
  return byNewestVersion(a.record.skill?.version ?? "", b.record.skill?.version ?? "");
}

function isRelease({ record }: FoundSkill): boolean {
  return record.skill !== undefined && !isPrerelease(record.skill.version);
}

/** Counts directories with a SKILL.md, and the skills left out according to the findings. */
function countSkills({ skills, findings }: ScanResult): SkillCounts {
  const reasons = new Map<RuleCode, number>();
  const add = (code: RuleCode, count: number): void => void reasons.set(code, (reasons.get(code) ?? 0) + count);
  let checked = 0;
  let complete = true;
  for (const { record } of skills) {
    const reason = whyUnread(record);
    if (reason === undefined) checked++;
    else add(reason, 1);
  }
  for (const { code, leftOut } of findings) {
    if (leftOut !== undefined) add(code, leftOut);
    else if (code === "dangling-symlink") add(code, 1);
    else if (unreadDirectory.has(code)) {
      add(code, 0);
      complete = false;
    }
  }
  const notChecked = [...reasons.values()].reduce((sum, count) => sum + count, 0);
  return {
    found: checked + notChecked,
    checked,
    notChecked,
    complete,
    reasons: Array.from(reasons, ([code, count]) => ({ code, count })),
  };
}

function whyUnread({ path: directory, skill, findings }: FoundSkill["record"]): RuleCode | undefined {
  if (skill !== undefined) return undefined;
  return findings.find(({ code, file }) => unreadFile.has(code) && dirname(file) === directory)?.code;
}

/** The difference between two snapshots, by slug and in their order. Fast for shared objects. */
export function diffSnapshots(before: Snapshot, after: Snapshot): Change {
  const left = new Map(before.skills.map((offer) => [offer.skill.slug, offer]));
  const added: OfferedSkill[] = [];
  const changed: { before: OfferedSkill; after: OfferedSkill }[] = [];
  for (const offer of after.skills) {
    const previous = left.get(offer.skill.slug);
    left.delete(offer.skill.slug);
    if (previous === undefined) added.push(offer);
    else if (!isSameOffer(previous, offer)) changed.push({ before: previous, after: offer });
  }
  return { added, removed: [...left.values()], changed };
}

/** Whether a change contains no skill. */
export function isEmptyChange({ added, removed, changed }: Change): boolean {
  return added.length === 0 && removed.length === 0 && changed.length === 0;
}

/** Whether two offers are deeply equal. */
function isSameOffer(a: OfferedSkill, b: OfferedSkill): boolean {
  return (
    a === b ||
    (a.isOwn === b.isOwn &&
      a.remote === b.remote &&
      isSame(a.skill, b.skill) &&
      isDeepEqualList(a.versions, b.versions) &&
      isDeepEqualList(a.sources, b.sources) &&
      isDeepEqualList(a.problems, b.problems))
  );
}

/** Whether two lists are deeply equal. */
export function isDeepEqualList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => isSame(item, b[index])));
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}
