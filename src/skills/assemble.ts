import path from "node:path";
import { byCodePoint } from "./code-point-order.ts";
import { isSameOffer } from "./diff.ts";
import { shadowed, slugCollision, versionCollision } from "./disk-findings.ts";
import type { Found, FoundSkill } from "./found.ts";
import type { Problem } from "./problem.ts";
import type { Root } from "./roots.ts";
import { toProblems } from "./rules.ts";
import type { Finding } from "./rules.ts";
import { byNewestVersion, isPrerelease, isVersion } from "./skill-version.ts";
import type { OfferedSkill, Skill, Snapshot } from "./skill.ts";

/** The skill that has a slug, and its other versions. */
interface Family {
  readonly winner: FoundSkill;
  others: FoundSkill[];
}

const noProblems: readonly Problem[] = Object.freeze([]);
const noOthers: FoundSkill[] = [];

/**
 * Found skills to a snapshot, by precedence (C-1.6): the first root wins, and within a root the first path. What loses is
 * a problem, never silently gone. Offers equal to those of `before` are taken from there.
 */
export function assemble({ skills, findings }: Found, before?: Snapshot): Snapshot {
  const families = new Map<string, Family>();
  const problems = toProblems(findings, "lenient");
  for (const found of skills) {
    const { findings: own, skill } = found.record;
    if (own.length > 0) problems.push(...toProblems(own, "lenient"));
    if (skill === undefined) continue;
    const family = families.get(skill.slug);
    if (family === undefined) {
      families.set(skill.slug, { winner: found, others: noOthers });
      continue;
    }
    const finding = refusal(family, found, skill);
    if (finding !== undefined) problems.push(...toProblems([finding], "lenient"));
    else family.others = [...family.others, found];
  }
  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const sources = new Map<readonly Root[], readonly string[]>();
  const offers: OfferedSkill[] = [];
  for (const [slug, { winner, others }] of families) {
    const members = others.length === 0 ? [winner] : [winner, ...others].sort(byNewest);
    const chosen = members.length === 1 ? winner : (members.find(isRelease) ?? members[0] ?? winner);
    const { roots, record } = chosen;
    if (record.skill === undefined) continue;
    const places = sources.get(roots) ?? Object.freeze(roots.map((root) => root.path));
    sources.set(roots, places);
    const offer: OfferedSkill = Object.freeze({
      skill: record.skill,
      sources: places,
      problems: problemsOf(members),
      versions: Object.freeze(members.flatMap((member) => member.record.skill ?? [])),
    });
    const same = known.get(slug);
    offers.push(same !== undefined && isSameOffer(same, offer) ? same : offer);
  }
  offers.sort((a, b) => byCodePoint(a.skill.slug, b.skill.slug));
  return Object.freeze({ skills: Object.freeze(offers), problems: Object.freeze(problems) });
}

/** Why a skill does not join the family that has its slug already. */
function refusal({ winner, others }: Family, found: FoundSkill, skill: Skill): Finding | undefined {
  const first = winner.record.skill;
  if (first === undefined) return undefined;
  if (found.roots[0] !== winner.roots[0]) return shadowed(skill, first);
  if (versionsDirectory(found) !== versionsDirectory(winner)) return slugCollision(skill, first);
  const twin = [winner, ...others].find((member) => member.record.skill?.version === skill.version)?.record.skill;
  return twin && versionCollision(skill, twin);
}

/** The directory that holds the versions of a skill: its own, or the one above `<version>/`. */
function versionsDirectory({ record }: FoundSkill): string {
  return isVersion(path.basename(record.path)) ? path.dirname(record.path) : record.path;
}

function byNewest(a: FoundSkill, b: FoundSkill): number {
  return byNewestVersion(a.record.skill?.version ?? "", b.record.skill?.version ?? "");
}

function isRelease({ record }: FoundSkill): boolean {
  return record.skill !== undefined && !isPrerelease(record.skill.version);
}

function problemsOf(members: readonly FoundSkill[]): readonly Problem[] {
  if (members.every(({ record }) => record.findings.length === 0)) return noProblems;
  return Object.freeze(members.flatMap(({ record }) => toProblems(record.findings, "lenient")));
}
