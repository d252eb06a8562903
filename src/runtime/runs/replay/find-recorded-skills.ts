import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import { byNewestVersion } from "../../../skills/manifest.ts";
import type { Skill } from "../../../skills/skill.ts";
import { skillChanged } from "../plan/plan-run.ts";
import type { RunCaller } from "../run-caller.ts";
import type { SkillVersion } from "../run-spec.ts";
import type { RecordedRun } from "./plan-replay.ts";

/** The skills that a recorded run used, with exactly the bytes that it used. */
export interface RecordedSkills {
  /** Why some of them cannot be used, each as the end of a sentence. */
  readonly missing: readonly string[];
  /** Throws nothing for a version of the record if none is missing. */
  find(version: SkillVersion): Skill | undefined;
  /** A caller who sees only these skills, and for whom each has only these bytes. */
  seenBy(caller: RunCaller): RunCaller;
}

/**
 * Looks for skills by name and version, and by digest wherever they lie. One whose name is qualified now, or no longer is, because others
 * with that name came or went, is used under its recorded name: the code of a run refers to it.
 */
export async function findRecordedSkills(
  { run, nested }: RecordedRun,
  caller: RunCaller,
  signal: AbortSignal,
): Promise<RecordedSkills> {
  const found = new Map<string, Skill>();
  const digests = new Map<Skill, string>();
  const originals = new Map<Skill, Skill>();
  const missing: string[] = [];
  for (const version of [run, ...nested].flatMap(({ spec }) => [...spec.mounts, ...spec.brokered])) {
    const key = keyOf(version);
    if (found.has(key)) continue;
    const candidates = [...caller.skills.all()].filter((skill) => isAlike(skill, version));
    const original = await findSkill(version, candidates, caller, signal);
    if (original === undefined) {
      const why = whyMissing(version, candidates);
      if (!missing.includes(why)) missing.push(why);
      continue;
    }
    const { name, slug } = version;
    const isRenamed = original.name !== name || original.slug !== slug;
    const skill = isRenamed ? Object.freeze({ ...original, name, slug }) : original;
    found.set(key, skill);
    digests.set(skill, version.digest);
    originals.set(skill, original);
  }
  const originalOf = (skill: Skill): Skill => originals.get(skill) ?? skill;
  return {
    missing,
    find: (version) => found.get(keyOf(version)),
    seenBy: (whole) => ({
      ...whole,
      skills: {
        ...whole.skills,
        find: findAmong([...digests.keys()]),
        all: () => digests.keys(),
        isOwn: (skill) => whole.skills.isOwn(originalOf(skill)),
        rootOf: (skill) => whole.skills.rootOf(originalOf(skill)),
        remoteOf: (skill) => whole.skills.remoteOf(originalOf(skill)),
      },
      async hashFiles(skill, abort) {
        const hashed = await whole.hashFiles(skill, abort);
        if (hashed.digest !== digests.get(skill)) throw skillChanged(skill.name);
        return hashed;
      },
    }),
  };
}

function keyOf({ name, version, digest }: SkillVersion): string {
  return JSON.stringify([name, version, digest]);
}

/** Whether a skill may be the recorded one: it has the same name, or one of the two names is qualified. */
function isAlike({ name, slug }: Skill, recorded: SkillVersion): boolean {
  return name === recorded.name || slug.endsWith(`-${recorded.slug}`) || recorded.slug.endsWith(`-${slug}`);
}

async function findSkill(
  { version, digest }: SkillVersion,
  candidates: readonly Skill[],
  { hashFiles }: RunCaller,
  signal: AbortSignal,
): Promise<Skill | undefined> {
  for (const skill of candidates) {
    if (skill.version !== version) continue;
    try {
      if ((await hashFiles(skill, signal)).digest === digest) return skill;
    } catch (error) {
      // One that cannot be read is not the one.
      if (!isSkillsError(error) || error.code === "INTERNAL") throw error;
    }
  }
  return undefined;
}

function whyMissing({ name, version, digest }: SkillVersion, candidates: readonly Skill[]): string {
  const what = `the skill ${name} ${version} (${digest.slice(0, "sha256:".length + 12)}…)`;
  const present = candidates.filter((skill) => skill.name === name).map((skill) => skill.version);
  if (present.includes(version)) return `${what} is no longer installed: its files changed since`;
  const others = present.length === 0 ? "" : `; there is ${present.slice(0, 5).join(", ")}`;
  return `${what} is not installed here${others}`;
}

function findAmong(skills: readonly Skill[]): RunCaller["skills"]["find"] {
  return (nameOrSlug, version) => {
    const slugs = skills.filter(({ slug }) => slug === nameOrSlug);
    const versions = (slugs.length > 0 ? slugs : skills.filter(({ name }) => name === nameOrSlug)).toSorted((a, b) =>
      byNewestVersion(a.version, b.version),
    );
    const skill = version === undefined ? versions[0] : versions.find((other) => other.version === version);
    if (skill !== undefined) return { skill, versions };
    throw new SkillsError("SKILL_NOT_FOUND", `The run that is replayed used no skill ${JSON.stringify(nameOrSlug)}.`);
  };
}
