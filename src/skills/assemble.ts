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

/** A skill whose slug counts, and its other versions. */
interface Family {
  /** The directory that holds the versions. */
  readonly directory: string;
  readonly root: Root | undefined;
  readonly members: (FoundSkill & { readonly skill: Skill })[];
}

const noProblems: readonly Problem[] = Object.freeze([]);

/**
 * Found skills to a snapshot, by precedence (C-1.6): the first root wins, and within a root the first path. What loses is
 * a problem, never silently gone. Offers equal to those of `before` are taken from there.
 */
export function assemble({ skills, findings }: Found, before?: Snapshot): Snapshot {
  const families = new Map<string, Family>();
  const problems = toProblems(findings, "lenient");
  for (const found of skills) {
    const { record, roots } = found;
    const { skill } = record;
    if (record.findings.length > 0) problems.push(...toProblems(record.findings, "lenient"));
    if (skill === undefined) continue;
    const directory = isVersion(path.basename(record.path)) ? path.dirname(record.path) : record.path;
    const family = families.get(skill.slug);
    if (family === undefined) {
      families.set(skill.slug, { directory, root: roots[0], members: [{ ...found, skill }] });
      continue;
    }
    const finding = refusal(family, directory, roots[0], skill);
    if (finding === undefined) family.members.push({ ...found, skill });
    else problems.push(...toProblems([finding], "lenient"));
  }
  const known = new Map(before?.skills.map((offer) => [offer.skill.slug, offer]));
  const offers = [...families.values()].map((family) => {
    const offer = toOffer(family);
    const same = known.get(offer.skill.slug);
    return same !== undefined && isSameOffer(same, offer) ? same : offer;
  });
  offers.sort((a, b) => byCodePoint(a.skill.slug, b.skill.slug));
  return Object.freeze({ skills: Object.freeze(offers), problems: Object.freeze(problems) });
}

/** Why a skill does not join the family that has its slug already. */
function refusal(family: Family, directory: string, root: Root | undefined, skill: Skill): Finding | undefined {
  const winner = family.members[0]?.skill;
  if (winner === undefined) return undefined;
  if (root !== family.root) return shadowed(skill, winner);
  if (directory !== family.directory) return slugCollision(skill, winner);
  const twin = family.members.find((member) => member.skill.version === skill.version);
  return twin && versionCollision(skill, twin.skill);
}

function toOffer({ members }: Family): OfferedSkill {
  const [first] = members;
  if (members.length > 1) members.sort((a, b) => byNewestVersion(a.skill.version, b.skill.version));
  const chosen = members.find(({ skill }) => !isPrerelease(skill.version)) ?? members[0] ?? first;
  if (chosen === undefined) throw new Error("a family has at least one member");
  const problems = members.flatMap(({ record }) => toProblems(record.findings, "lenient"));
  return Object.freeze({
    skill: chosen.skill,
    sources: Object.freeze(chosen.roots.map((root) => root.path)),
    problems: problems.length === 0 ? noProblems : Object.freeze(problems),
    versions: Object.freeze(members.map(({ skill }) => skill)),
  });
}
