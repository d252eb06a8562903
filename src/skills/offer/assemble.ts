import { byCodePoint } from "../text/code-point-order.ts";
import { isSameOffer } from "./diff.ts";
import {
  copied,
  qualified as qualifiedFinding,
  shadowed,
  slugCollision,
  versionCollision,
} from "../scan/disk-findings.ts";
import type { Found, FoundSkill } from "../scan/scan-memory.ts";
import type { Problem } from "../rules/problem.ts";
import type { Root } from "../scan/roots.ts";
import { toProblems } from "../rules/rules.ts";
import { qualifiedSlugs } from "./qualified-slugs.ts";
import type { Finding } from "../rules/rules.ts";
import { countSkills } from "../rules/skill-counts.ts";
import { toFamilies } from "./skill-families.ts";
import { byNewestVersion, isPrerelease } from "../manifest/skill-version.ts";
import type { OfferedSkill, Skill, Snapshot } from "../skill.ts";

const none: readonly never[] = Object.freeze([]);
/** The versions of one skill, under its slug. */
interface Entry {
  readonly slug: string;
  readonly members: readonly FoundSkill[];
}

/**
 * Turns found skills into a snapshot, by precedence (C-1.6): the first root wins; of different skills with one slug below one root, one
 * keeps it and the others get qualified slugs. Whatever is not offered is reported. Offers equal to those of `before` are reused.
 */
export function assemble({ skills, findings }: Found, before?: Snapshot): Snapshot {
  /** The first skill of each slug. */
  const firsts = new Map<string, FoundSkill>();
  /** All skills of slugs with several. */
  const rivals = new Map<string, FoundSkill[]>();
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
  const settled = settleRivals(rivals, new Set(firsts.keys()));
  for (const [found, own] of settled.findings) {
    const reported = toProblems(own, "lenient");
    problems.push(...reported);
    ownProblems.set(found, Object.freeze([...(ownProblems.get(found) ?? none), ...reported]));
  }
  const entries = [...settled.entries];
  for (const [slug, first] of firsts) if (!rivals.has(slug)) entries.push({ slug, members: [first] });

  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const sources = new Map<readonly Root[], readonly string[]>();
  const offers: OfferedSkill[] = [];
  for (const { slug, members } of entries) {
    const newest = members.length === 1 ? members : members.toSorted(byNewest);
    const chosen = newest.find(isRelease) ?? newest[0];
    if (chosen?.record.skill === undefined) continue;
    const skill = withSlug(chosen.record.skill, slug);
    const versions =
      newest.length === 1
        ? [skill]
        : newest.flatMap((one) => (one === chosen ? skill : one.record.skill ? withSlug(one.record.skill, slug) : []));
    const places = sources.get(chosen.roots) ?? Object.freeze(chosen.roots.map((root) => root.path));
    sources.set(chosen.roots, places);
    const offer: OfferedSkill = Object.freeze({
      skill,
      sources: places,
      problems: newest.length === 1 ? (ownProblems.get(chosen) ?? none) : problemsOf(newest, ownProblems),
      ...(newest.every(isOwn) && { isOwn: true }),
      versions: Object.freeze(versions),
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

/** Resolves skills with equal slugs: which are offered, and findings for them and the others. */
function settleRivals(
  rivals: ReadonlyMap<string, readonly FoundSkill[]>,
  slugs: Set<string>,
): { entries: readonly Entry[]; findings: ReadonlyMap<FoundSkill, readonly Finding[]> } {
  const entries: Entry[] = [];
  const findings = new Map<FoundSkill, Finding[]>();
  const tell = (found: FoundSkill, finding: Finding): void => {
    findings.set(found, [...(findings.get(found) ?? []), finding]);
  };
  const take = (slug: string): boolean => !slugs.has(slug) && slugs.add(slug).has(slug);
  for (const [slug, all] of rivals) {
    let keeper: Skill | undefined;
    for (const found of byRoot(all)) {
      const { families, refused } = toFamilies(found);
      for (const { found: one, skill, twin } of refused) tell(one, versionCollision(skill, twin));
      const qualified = qualifiedSlugs(slug, families, take);
      const first = families[0]?.members[0]?.record.skill;
      for (const family of families) {
        const { members, copies } = family;
        const original = members[0]?.record.skill;
        if (original === undefined || first === undefined) continue;
        for (const copy of copies) if (copy.record.skill) tell(copy, copied(copy.record.skill, original));
        const own = family === families[0] ? slug : qualified.get(family);
        const winner = own === slug ? keeper : undefined;
        if (own !== undefined && winner === undefined) entries.push({ slug: own, members });
        for (const member of members) {
          const { skill } = member.record;
          if (skill === undefined) continue;
          if (own === undefined) tell(member, slugCollision(skill, first));
          else if (winner !== undefined) tell(member, shadowed(skill, winner));
          else if (own !== slug) tell(member, qualifiedFinding(skill, own, first));
        }
      }
      keeper ??= first;
    }
  }
  return { entries, findings };
}

function byRoot(rivals: readonly FoundSkill[]): Iterable<FoundSkill[]> {
  const roots = new Map<Root | undefined, FoundSkill[]>();
  for (const found of rivals) {
    const others = roots.get(found.roots[0]);
    if (others === undefined) roots.set(found.roots[0], [found]);
    else others.push(found);
  }
  return roots.values();
}

/** A skill under a qualified slug, which also becomes its name, so that names stay unique (C-1.2). */
function withSlug(skill: Skill, slug: string): Skill {
  return skill.slug === slug ? skill : Object.freeze({ ...skill, slug, name: slug, namespace: slug });
}

/**
 * Whether a skill is from the user's own roots (C-1.6). A project skill whose SKILL.md is a symlink into such a root is not, because the
 * rest of its directory belongs to the project.
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

function problemsOf(
  members: readonly FoundSkill[],
  own: ReadonlyMap<FoundSkill, readonly Problem[]>,
): readonly Problem[] {
  return Object.freeze(members.flatMap((member) => own.get(member) ?? none));
}
