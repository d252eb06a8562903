import { SkillsError } from "../../errors.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import { isPrerelease } from "../../skills/manifest/skill-version.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../skills/skill.ts";
import { guideSkill } from "../guide/guide.ts";
import { indexOf, placeOf } from "./skill-index.ts";

/** A skill as one caller sees it. */
interface SeenSkill {
  /** The version that counts. */
  readonly skill: Skill;
  /** All that are visible, newest first; never empty. */
  readonly versions: readonly Skill[];
}

/** The skills one caller sees. What is not visible is not there, in any way. */
export interface SkillView {
  /**
   * By canonical name or slug; the newest version, or exactly this one. Throws SKILL_NOT_FOUND or VERSION_NOT_FOUND with the
   * nearest names that are visible.
   */
  find(nameOrSlug: string, version?: string): SeenSkill;
  /** Whether this is a version of a skill of the person's own roots. */
  isOwn(skill: Skill): boolean;
  /** The directories of the person's own skills, and the roots in which those are searched, even if they contain none yet. */
  ownPlaces(): readonly string[];
  /** In the order of names, those after `after`; only `namespace` and what is dotted below it, where one is given. */
  after(after: string | undefined, namespace: string | undefined): Generator<Skill, void>;
}

type IsVisible = (skill: Skill) => boolean;

export function viewSkills(snapshot: Snapshot, visible: IsVisible | undefined): SkillView {
  const index = indexOf(snapshot);
  const see = (offer: OfferedSkill): SeenSkill | undefined =>
    visible === undefined || offer === guideSkill ? offer : seen(offer, visible);

  function* within(from: number, to: number): Generator<Skill, void> {
    for (let place = from; place < to; place++) {
      const offer = index.offers[place];
      const found = offer && see(offer);
      if (found) yield found.skill;
    }
  }
  function* names(): Generator<string, void> {
    for (const { name } of within(0, index.offers.length)) yield name;
  }

  return {
    find(nameOrSlug, version) {
      const offer = index.find(nameOrSlug);
      const found = offer && see(offer);
      if (found === undefined) throw skillNotFound(nameOrSlug, names());
      if (version === undefined) return found;
      const skill = found.versions.find((other) => other.version === version);
      if (skill === undefined) throw versionNotFound(found, version);
      return { skill, versions: found.versions };
    },
    isOwn(skill) {
      const offers = [index.find(skill.slug), index.find(skill.name)];
      return offers.some((offer) => offer?.isOwn === true && offer.versions.includes(skill));
    },
    ownPlaces: () => [
      ...(snapshot.ownRoots ?? []),
      ...index.offers.flatMap(({ isOwn, sources, versions }) =>
        isOwn === true ? [...sources, ...versions.map(({ directory }) => directory)] : [],
      ),
    ],
    *after(after, namespace) {
      const { names: all, offers } = index;
      const place = after === undefined ? 0 : placeOf(all, after);
      const start = all[place] === after ? place + 1 : place;
      if (namespace === undefined) return yield* within(start, offers.length);
      const own = placeOf(all, namespace);
      if (all[own] === namespace) yield* within(Math.max(own, start), own + 1);
      // "/" follows "." directly, so these are all the names that start with `namespace.`.
      yield* within(Math.max(placeOf(all, `${namespace}.`), start), placeOf(all, `${namespace}/`));
    },
  };
}

/** The newest visible version counts, a prerelease only when there is nothing else. */
function seen({ skill, versions }: OfferedSkill, visible: IsVisible): SeenSkill | undefined {
  const left = versions.filter(visible);
  const newest = left.includes(skill) ? skill : (left.find(({ version }) => !isPrerelease(version)) ?? left[0]);
  return newest && { skill: newest, versions: left };
}

const longestShown = 128;

function skillNotFound(name: string, names: Iterable<string>): SkillsError {
  const facts = { available: nearest(name, names, asAvailable), hint: "Use a name exactly as list_skills gives it." };
  return new SkillsError("SKILL_NOT_FOUND", `There is no skill ${quote(name)}.`, { facts });
}

function versionNotFound({ skill, versions }: SeenSkill, version: string): SkillsError {
  const available = versions.slice(0, 10).map((other) => other.version);
  const hint = `Leave out version for the latest, ${skill.version}.`;
  return new SkillsError("VERSION_NOT_FOUND", `The skill ${skill.name} has no version ${quote(version)}.`, {
    facts: { available, hint },
  });
}

/** A caller's text as part of a sentence, however long it is. */
function quote(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}
