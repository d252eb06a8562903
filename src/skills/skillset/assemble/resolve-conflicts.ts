import { createHash } from "node:crypto";
import path from "node:path";
import type { Finding, RuleCode } from "../../rules.ts";
import { copied, qualified, shadowed, slugCollision, versionCollision } from "../scan/disk-findings.ts";
import type { FoundSkill } from "../scan/scan-memory.ts";
import { type Skill, isVersion, maxNameLength, toSlug } from "../../skill.ts";
import { groupBy } from "../../../base/limited-map.ts";
import { byCodePoint } from "../../../base/text/code-points.ts";

/** The versions of one skill, which share a slug. */
export interface SkillVersions {
  readonly slug: string;
  readonly candidates: readonly FoundSkill[];
}

/** The versions of one skill in its directory: only the directory itself, or the `<version>/` directories in it. */
interface Family {
  readonly directory: string;
  /** One per version; never empty. */
  readonly candidates: readonly FoundSkill[];
  /** Skills with the same bytes in another directory below the same root. */
  readonly copies: readonly FoundSkill[];
}

const malformedName: ReadonlySet<RuleCode> = new Set([
  "name-missing",
  "name-too-long",
  "name-not-lowercase",
  "name-invalid-characters",
  "name-hyphens",
  "name-not-ascii",
] satisfies RuleCode[]);

/** Directory names that do not describe the skills in them; used only if no other name is unique. */
const generic: ReadonlySet<string> = new Set(["skills", "skill", "plugins", "agents", "claude", "src"]);
const hashLength = 8;

/** Resolves conflicts of slugs: returns the skills to offer, and findings for all skills concerned. */
export function resolveConflicts(
  candidates: ReadonlyMap<string, readonly FoundSkill[]>,
  slugs: Set<string>,
): { entries: readonly SkillVersions[]; findings: ReadonlyMap<FoundSkill, readonly Finding[]> } {
  const entries: SkillVersions[] = [];
  const findings = new Map<FoundSkill, Finding[]>();
  const report = (found: FoundSkill, finding: Finding): void =>
    void findings.set(found, [...(findings.get(found) ?? []), finding]);
  const take = (slug: string): boolean => !slugs.has(slug) && slugs.add(slug).has(slug);
  // Two slugs can want the same qualified slug: the order in which skills were found must not decide between them.
  for (const [slug, all] of [...candidates].sort(([a], [b]) => byCodePoint(a, b))) {
    /** The versions that retain the slug, from the first root. */
    let retained: readonly FoundSkill[] = [];
    for (const found of groupBy(all, ({ roots }) => roots[0]).values()) {
      const families = toFamilies(found, (one, skill, twin) => report(one, versionCollision(skill, twin)));
      const otherSlugs = qualifiedSlugs(slug, families, take);
      const first = families[0]?.candidates[0]?.record.skill;
      for (const family of families) {
        const { candidates, copies } = family;
        const original = candidates[0]?.record.skill;
        if (original === undefined || first === undefined) continue;
        for (const copy of copies) if (copy.record.skill) report(copy, copied(copy.record.skill, original));
        const own = family === families[0] ? slug : otherSlugs.get(family);
        const winner = own === slug ? retained[0]?.record.skill : undefined;
        if (own !== undefined && winner === undefined) entries.push({ slug: own, candidates });
        for (const candidate of candidates) {
          const { skill } = candidate.record;
          if (skill === undefined) continue;
          const { content } = candidate;
          const original = retained.find((other) => content !== undefined && other.content === content)?.record.skill;
          if (own === undefined) report(candidate, slugCollision(skill, first));
          else if (winner !== undefined)
            report(candidate, original === undefined ? shadowed(skill, winner) : copied(skill, original));
          else if (own !== slug) report(candidate, qualified(skill, own, first));
        }
      }
      if (retained.length === 0) retained = families[0]?.candidates ?? [];
    }
  }
  return { entries, findings };
}

/**
 * Groups skills of one slug and one root into different skills, in order of precedence: well-formed names, then the shallowest, then by
 * path. Calls `refuse` for a duplicate version, with the first skill that has the version.
 */
function toFamilies(
  found: readonly FoundSkill[],
  refuse: (one: FoundSkill, skill: Skill, twin: Skill) => void,
): Family[] {
  const byDirectory = new Map<string, FoundSkill[]>();
  for (const one of found) {
    const directory = versionsDirectory(one);
    const candidates = byDirectory.get(directory);
    if (candidates === undefined) {
      byDirectory.set(directory, [one]);
      continue;
    }
    const twin = candidates.find(({ record }) => record.skill?.version === one.record.skill?.version)?.record.skill;
    if (twin === undefined) candidates.push(one);
    else if (one.record.skill !== undefined) refuse(one, one.record.skill, twin);
  }
  const order = Array.from(byDirectory, ([directory, candidates]) => ({
    directory,
    candidates,
    rank: candidates.every(isDerivedSlug) ? 1 : 0,
    depth: directory.split(path.sep).length,
  })).sort((a, b) => a.rank - b.rank || a.depth - b.depth || byCodePoint(a.directory, b.directory));
  const families: (Family & { readonly copies: FoundSkill[] })[] = [];
  const byContent = new Map<string, FoundSkill[]>();
  for (const { directory, candidates } of order) {
    const content = contentOf(candidates);
    const copies = content === undefined ? undefined : byContent.get(content);
    if (copies !== undefined) {
      copies.push(...candidates);
      continue;
    }
    const family = { directory, candidates, copies: [] };
    families.push(family);
    if (content !== undefined) byContent.set(content, family.copies);
  }
  return families;
}

/** Whether the slug was derived from a malformed name. */
function isDerivedSlug({ record }: FoundSkill): boolean {
  return record.findings.some(({ code }) => malformedName.has(code));
}

/** A text that is equal for copies; undefined if content was not compared. */
function contentOf(candidates: readonly FoundSkill[]): string | undefined {
  const parts = candidates.map(({ record, content }) => content && `${record.skill?.version ?? ""} ${content}`);
  return parts.includes(undefined) ? undefined : parts.sort().join("\n");
}

/** The directory with all versions of a skill: the skill's own, or the parent of `<version>/`. */
function versionsDirectory({ record }: FoundSkill): string {
  return isVersion(path.basename(record.path)) ? path.dirname(record.path) : record.path;
}

/**
 * Returns slugs for different skills with the same slug, except the first, which retains it. They are prefixed by the nearest directory
 * that contains no other of these skills. They depend on paths alone, so that no slug moves to another skill when skills are added or
 * removed. `take` claims a slug and returns whether it was free.
 */
function qualifiedSlugs(slug: string, families: readonly Family[], take: (slug: string) => boolean) {
  const candidates = new Map(families.map((family) => [family, directoryNames(family)]));
  const counts = new Map<string, number>();
  for (const own of candidates.values()) {
    for (const name of new Set(own)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const result = new Map<Family, string>();
  for (const family of families.slice(1)) {
    const unique = (candidates.get(family) ?? []).filter((name) => counts.get(name) === 1 && name !== slug);
    const hash = createHash("sha256").update(family.directory).digest("hex").slice(0, hashLength);
    const choices = [...unique.map((name) => fit(`${name}-${slug}`, hash)), fit(`${slug}-${hash}`, hash)];
    const free = choices.find(take);
    if (free !== undefined) result.set(family, free);
  }
  return result;
}

/** The directories around a skill as the first words of slugs: innermost first, then generic ones, then each with its parent. */
function directoryNames({ directory }: Family): string[] {
  const names = directory
    .split(path.sep)
    .reverse()
    .flatMap((name) => toSlug(name) ?? []);
  const pairs = names.slice(1).map((above, index) => `${above}-${names[index] ?? ""}`);
  return [...names.filter((name) => !generic.has(name)), ...names.filter((name) => generic.has(name)), ...pairs];
}

function fit(slug: string, hash: string): string {
  if (slug.length <= maxNameLength) return slug;
  return `${slug.slice(0, maxNameLength - hashLength - 1).replace(/-$/, "")}-${hash}`;
}
