import path from "node:path";
import { byCodePoint } from "./code-point-order.ts";
import { isSameOffer } from "./diff.ts";
import { shadowed, slugCollision, versionCollision } from "./disk-findings.ts";
import type { Found, FoundSkill } from "./found.ts";
import type { Problem } from "./problem.ts";
import type { Root } from "./roots.ts";
import { toProblems } from "./rules.ts";
import type { Finding, RuleCode } from "./rules.ts";
import { countSkills } from "./skill-counts.ts";
import { byNewestVersion, isPrerelease, isVersion } from "./skill-version.ts";
import type { OfferedSkill, Skill, Snapshot } from "./skill.ts";

const none: readonly never[] = Object.freeze([]);
const malformedName: ReadonlySet<RuleCode> = new Set([
  "name-missing",
  "name-too-long",
  "name-not-lowercase",
  "name-invalid-characters",
  "name-hyphens",
  "name-not-ascii",
] satisfies RuleCode[]);

/**
 * Found skills to a snapshot, by precedence (C-1.6): the first root wins, within a root the best name, then the first path.
 * What loses is a problem, never silently gone. Offers equal to those of `before` are taken from there.
 */
export function assemble({ skills, findings }: Found, before?: Snapshot): Snapshot {
  /** By slug: the skill that is there first. */
  const firsts = new Map<string, FoundSkill>();
  /** All that have the same slug, where there are several. */
  const rivals = new Map<string, FoundSkill[]>();
  const families = new Map<string, readonly FoundSkill[]>();
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
    const others = rivals.get(skill.slug);
    if (first === undefined) firsts.set(skill.slug, found);
    else if (others === undefined) rivals.set(skill.slug, [first, found]);
    else others.push(found);
  }
  for (const [slug, all] of rivals) {
    const { family, refused } = settleRivals(all);
    problems.push(...toProblems(refused, "lenient"));
    families.set(slug, family);
  }
  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const sources = new Map<readonly Root[], readonly string[]>();
  const offers: OfferedSkill[] = [];
  for (const [slug, first] of firsts) {
    const members = families.get(slug)?.toSorted(byNewest);
    const { roots, record } = members?.find(isRelease) ?? members?.[0] ?? first;
    if (record.skill === undefined) continue;
    const places = sources.get(roots) ?? Object.freeze(roots.map((root) => root.path));
    sources.set(roots, places);
    const offer: OfferedSkill = Object.freeze({
      skill: record.skill,
      sources: places,
      problems: members === undefined ? (ownProblems.get(first) ?? none) : problemsOf(members, ownProblems),
      ...((members ?? [first]).every(isOwn) && { isOwn: true }),
      versions: Object.freeze(members === undefined ? [record.skill] : versionsOf(members)),
    });
    const same = known.get(slug);
    offers.push(same !== undefined && isSameOffer(same, offer) ? same : offer);
  }
  offers.sort((a, b) => byCodePoint(a.skill.slug, b.skill.slug));
  const counts = countSkills(
    skills.map(({ record }) => record),
    findings,
  );
  return Object.freeze({ skills: Object.freeze(offers), problems: Object.freeze(problems), counts });
}

/** Of skills with one slug, the one that wins with its further versions, and why each of the others does not join them. */
function settleRivals(rivals: readonly FoundSkill[]): { family: readonly FoundSkill[]; refused: readonly Finding[] } {
  const family: FoundSkill[] = [];
  const refused: Finding[] = [];
  for (const found of byPrecedence(rivals)) {
    const finding = refusal(family, found);
    if (finding === undefined) family.push(found);
    else refused.push(finding);
  }
  return { family, refused };
}

/** The first root's before the others; of those, the directories with the best name first. */
function byPrecedence(rivals: readonly FoundSkill[]): FoundSkill[] {
  const root = rivals[0]?.roots[0];
  const grades = new Map<string, number>();
  for (const found of rivals) {
    if (found.roots[0] !== root) continue;
    const directory = versionsDirectory(found);
    grades.set(directory, Math.min(gradeOf(found), grades.get(directory) ?? Infinity));
  }
  const grade = (found: FoundSkill): number =>
    found.roots[0] === root ? (grades.get(versionsDirectory(found)) ?? Infinity) : Infinity;
  return rivals.toSorted((a, b) => (grade(a) < grade(b) ? -1 : Number(grade(a) > grade(b))));
}

/** Faultless before a good name, and that before one from which the slug had to be made. */
function gradeOf({ record: { findings } }: FoundSkill): number {
  if (findings.length === 0) return 0;
  return findings.some(({ code }) => malformedName.has(code)) ? 2 : 1;
}

/** Why a skill does not join the family that has its slug already. */
function refusal(family: readonly FoundSkill[], found: FoundSkill): Finding | undefined {
  const [winner] = family;
  const [first, skill] = [winner?.record.skill, found.record.skill];
  if (winner === undefined || first === undefined || skill === undefined) return undefined;
  if (found.roots[0] !== winner.roots[0]) return shadowed(skill, first);
  if (versionsDirectory(found) !== versionsDirectory(winner)) return slugCollision(skill, first);
  const twin = family.find((member) => member.record.skill?.version === skill.version)?.record.skill;
  return twin && versionCollision(skill, twin);
}

/** The directory that holds the versions of a skill: its own, or the one above `<version>/`. */
function versionsDirectory({ record }: FoundSkill): string {
  return isVersion(path.basename(record.path)) ? path.dirname(record.path) : record.path;
}

/**
 * Whether a skill is of the person's own roots (C-1.6). One of a project does not become so by a SKILL.md that is a link to theirs: the rest
 * of its directory is the project's.
 */
function isOwn({ record, roots }: FoundSkill): boolean {
  const [first] = roots;
  if (record.path !== record.identity) return first !== undefined && first.origin !== "project";
  return roots.some(({ origin }) => origin !== "project");
}

function byNewest(a: FoundSkill, b: FoundSkill): number {
  return byNewestVersion(a.record.skill?.version ?? "", b.record.skill?.version ?? "");
}

function isRelease({ record }: FoundSkill): boolean {
  return record.skill !== undefined && !isPrerelease(record.skill.version);
}

function versionsOf(members: readonly FoundSkill[]): Skill[] {
  return members.flatMap(({ record }) => record.skill ?? []);
}

function problemsOf(
  members: readonly FoundSkill[],
  own: ReadonlyMap<FoundSkill, readonly Problem[]>,
): readonly Problem[] {
  return Object.freeze(members.flatMap((member) => own.get(member) ?? none));
}
