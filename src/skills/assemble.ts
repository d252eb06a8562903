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

const none: readonly never[] = Object.freeze([]);

/**
 * Found skills to a snapshot, by precedence (C-1.6): the first root wins, and within a root the first path. What loses is
 * a problem, never silently gone. Offers equal to those of `before` are taken from there.
 */
export function assemble({ skills, findings }: Found, before?: Snapshot): Snapshot {
  const winners = new Map<string, FoundSkill>();
  /** Further versions of winners. */
  const others = new Map<string, readonly FoundSkill[]>();
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
    const winner = winners.get(skill.slug);
    if (winner === undefined) {
      winners.set(skill.slug, found);
      continue;
    }
    const family = [winner, ...(others.get(skill.slug) ?? none)];
    const finding = refusal(family, found, skill);
    if (finding !== undefined) problems.push(...toProblems([finding], "lenient"));
    else others.set(skill.slug, [...family.slice(1), found]);
  }
  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const sources = new Map<readonly Root[], readonly string[]>();
  const offers: OfferedSkill[] = [];
  for (const [slug, winner] of winners) {
    const further = others.get(slug);
    const members = further && [winner, ...further].sort(byNewest);
    const { roots, record } = members?.find(isRelease) ?? members?.[0] ?? winner;
    if (record.skill === undefined) continue;
    const places = sources.get(roots) ?? Object.freeze(roots.map((root) => root.path));
    sources.set(roots, places);
    const offer: OfferedSkill = Object.freeze({
      skill: record.skill,
      sources: places,
      problems: members === undefined ? (ownProblems.get(winner) ?? none) : problemsOf(members, ownProblems),
      versions: Object.freeze(members === undefined ? [record.skill] : versionsOf(members)),
    });
    const same = known.get(slug);
    offers.push(same !== undefined && isSameOffer(same, offer) ? same : offer);
  }
  offers.sort((a, b) => byCodePoint(a.skill.slug, b.skill.slug));
  return Object.freeze({ skills: Object.freeze(offers), problems: Object.freeze(problems) });
}

/** Why a skill does not join the family that has its slug already. */
function refusal(family: readonly FoundSkill[], found: FoundSkill, skill: Skill): Finding | undefined {
  const [winner] = family;
  const first = winner?.record.skill;
  if (winner === undefined || first === undefined) return undefined;
  if (found.roots[0] !== winner.roots[0]) return shadowed(skill, first);
  if (versionsDirectory(found) !== versionsDirectory(winner)) return slugCollision(skill, first);
  const twin = family.find((member) => member.record.skill?.version === skill.version)?.record.skill;
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

function versionsOf(members: readonly FoundSkill[]): Skill[] {
  return members.flatMap(({ record }) => record.skill ?? []);
}

function problemsOf(
  members: readonly FoundSkill[],
  own: ReadonlyMap<FoundSkill, readonly Problem[]>,
): readonly Problem[] {
  return Object.freeze(members.flatMap((member) => own.get(member) ?? none));
}
