import { dirname } from "node:path";
import { asAvailable, nearest } from "../../base/text/nearest.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { SkillsError } from "../../base/errors.ts";
import type { SkillFiles, SkillSource } from "../../skills/files.ts";
import { isPrerelease } from "../../skills/manifest.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../skills/skill.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { guideSkill } from "./guide.ts";
import type { CallerSkills } from "../runs/run-caller.ts";
import { type Policy, deniedSkills } from "../trust/policy.ts";
import type { Transport } from "../../wire/tools.ts";

/** A skill with the versions that the caller sees. */
interface SeenOffer {
  /** The newest version. */
  readonly skill: Skill;
  /** Newest first; never empty. */
  readonly versions: readonly Skill[];
}

/** The skills that one caller sees; all others behave exactly like absent ones. */
export interface SkillView extends CallerSkills {
  /** Finds the newest version unless one is given. The errors name the nearest visible names. */
  find(nameOrSlug: string, version?: string): SeenOffer;
  /** Yields the skills after the name `after`, in order of names; with `namespace`, only it and its dotted descendants. */
  after(after: string | undefined, namespace: string | undefined): Generator<Skill, void>;
}

type IsVisible = (skill: Skill) => boolean;

/** The skills that one caller sees at one moment. */
export interface SeenSkills {
  readonly skills: SkillView;
  /** The files of these skills. */
  readonly source: SkillSource;
}

/** Finds the skills that a caller sees now. `policy`: of the caller's project; `source`: the files of all skills. */
export function seeSkills(
  caller: {
    readonly transport: Transport;
    readonly skills: { readonly snapshot: Snapshot };
    readonly visible?: IsVisible | undefined;
  },
  policy: Policy,
  source: SkillSource,
): SeenSkills {
  const { snapshot } = caller.skills;
  const visible = visibleTo(caller.transport, snapshot, { visible: caller.visible, policy });
  let visibleSource: SkillSource | undefined;
  return {
    skills: viewSkills(snapshot, visible),
    get source() {
      return (visibleSource ??= toVisibleSource(source, snapshot, visible));
    },
  };
}

export function viewSkills(snapshot: Snapshot, visible: IsVisible | undefined): SkillView {
  const index = indexOf(snapshot);
  const see = (offer: OfferedSkill): SeenOffer | undefined =>
    visible === undefined || offer === guideSkill ? offer : seen(offer, visible);

  function* within(from: number, to: number): Generator<Skill, void> {
    for (let at = from; at < to; at++) {
      const offer = index.offers[at];
      const found = offer && see(offer);
      if (found) yield found.skill;
    }
  }
  function* names(): Generator<string, void> {
    for (const { name } of within(0, index.offers.length)) yield name;
  }

  const offerOf = (skill: Skill): OfferedSkill | undefined =>
    [index.find(skill.slug), index.find(skill.name)].find((offer) => offer?.versions.includes(skill));

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
    *all() {
      for (const offer of index.offers) yield* see(offer)?.versions ?? [];
    },
    isOwn: (skill) => offerOf(skill)?.isOwn === true,
    rootOf: (skill) => offerOf(skill)?.sources[0] ?? skill.directory,
    remoteOf: (skill) => offerOf(skill)?.remote,
    lookAlike({ name }) {
      const skeleton = skeletonOf(name);
      for (const other of names()) if (other !== name && skeletonOf(other) === skeleton) return other;
      return undefined;
    },
    ownDirectories: () => [
      ...(snapshot.ownRoots ?? []),
      ...index.offers.flatMap(({ isOwn, sources, versions }) =>
        isOwn === true ? [...sources, ...versions.map(({ directory }) => directory)] : [],
      ),
    ],
    *after(after, namespace) {
      const { offers } = index;
      const indexOf = (name: string): number => firstFrom(offers, name);
      // In the order of code points, a NUL follows a name directly; no name has one.
      const start = after === undefined ? 0 : indexOf(`${after}\0`);
      if (namespace === undefined) return yield* within(start, offers.length);
      yield* within(Math.max(indexOf(namespace), start), indexOf(`${namespace}\0`));
      // "/" is the next character after ".", so these are all names that start with `namespace.`.
      yield* within(Math.max(indexOf(`${namespace}.`), start), indexOf(`${namespace}/`));
    },
  };
}

/** Reduces an offer to its visible versions, with the newest of them; a prerelease only if there is no other. */
function seen({ skill, versions }: OfferedSkill, visible: IsVisible): SeenOffer | undefined {
  const left = versions.filter(visible);
  const newest = left.includes(skill) ? skill : (left.find(({ version }) => !isPrerelease(version)) ?? left[0]);
  return newest && { skill: newest, versions: left };
}

/** Returns the same text for names that look alike, such as `deploy-prod`, `depl0y.prod` and `dep1oy-prod`. Names are ASCII. */
function skeletonOf(name: string): string {
  return name
    .replaceAll(/[-.]/g, "")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replaceAll(/[1i]/g, "l")
    .replaceAll("0", "o")
    .replaceAll("5", "s");
}

const maxShownLength = 128;

function skillNotFound(name: string, names: Iterable<string>): SkillsError {
  const facts = { available: nearest(name, names, asAvailable), hint: "Use a name that list_skills returns." };
  return new SkillsError("SKILL_NOT_FOUND", `Unknown skill ${quote(name)}.`, { facts });
}

function versionNotFound({ skill, versions }: SeenOffer, version: string): SkillsError {
  const available = versions.slice(0, 10).map((other) => other.version);
  const hint = `Omit version for the latest, ${skill.version}.`;
  const facts = { available, hint };
  return new SkillsError("VERSION_NOT_FOUND", `The skill ${skill.name} has no version ${quote(version)}.`, { facts });
}

/** Quotes a caller's text, shortened. */
function quote(text: string): string {
  return JSON.stringify(text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);
}

/** The skills of a snapshot and the guide. */
interface SkillIndex {
  /** Ordered by canonical name, by code point. */
  readonly offers: readonly OfferedSkill[];
  /** Finds a skill by canonical name or by slug. */
  find(nameOrSlug: string): OfferedSkill | undefined;
}

const indexes = new WeakMap<Snapshot, SkillIndex>();

/** Returns the index of a snapshot, created once. A skill with the guide's name does not replace the guide. */
function indexOf(snapshot: Snapshot): SkillIndex {
  const known = indexes.get(snapshot);
  if (known !== undefined) return known;
  const guide = guideSkill.skill;
  const others = snapshot.skills.filter(({ skill }) => skill.slug !== guide.slug && skill.name !== guide.name);
  const offers = [...others, guideSkill].sort((a, b) => byCodePoint(a.skill.name, b.skill.name));
  // Most slugs are names and are found in the list. A map of all slugs would take as much memory as some of the skills.
  const bySlug = new Map(
    offers.flatMap((offer) => (offer.skill.slug === offer.skill.name ? [] : [[offer.skill.slug, offer] as const])),
  );
  const index: SkillIndex = {
    offers,
    find(nameOrSlug) {
      const first = offers[firstFrom(offers, nameOrSlug)];
      return first?.skill.name === nameOrSlug ? first : bySlug.get(nameOrSlug);
    },
  };
  indexes.set(snapshot, index);
  return index;
}

/** Returns the index of the first skill whose name is not before `name`. */
function firstFrom(offers: readonly OfferedSkill[], name: string): number {
  let [low, high] = [0, offers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byCodePoint(offers[middle]?.skill.name ?? "", name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The transports through which models call; the user calls through the others. */
const modelTransports: readonly Transport[] = ["mcp", "in-process"];

export function isModelTransport(transport: Transport): boolean {
  return modelTransports.includes(transport);
}

const hasHidden = new WeakMap<Snapshot, boolean>();

/**
 * Selects the versions that a caller sees; undefined: all. Models see none with `disable-model-invocation: true` and none that the policy
 * denies. Callers over HTTP, whose identity is unknown, see none that the policy denies.
 */
export function visibleTo(
  transport: Transport,
  snapshot: Snapshot,
  { visible, policy }: { readonly visible: IsVisible | undefined; readonly policy: Policy },
): IsVisible | undefined {
  if (!isModelTransport(transport) && transport !== "http") return visible;
  const denied = deniedSkills(policy, snapshot);
  const isHidden = isModelTransport(transport) && hidesAny(snapshot);
  if (denied.size === 0 && !isHidden) return visible;
  return (skill) => (!isHidden || isForModels(skill)) && !denied.has(skill) && visible?.(skill) !== false;
}

function isForModels({ disableModelInvocation }: Skill): boolean {
  return disableModelInvocation !== true;
}

function hidesAny(snapshot: Snapshot): boolean {
  const known = hasHidden.get(snapshot);
  if (known !== undefined) return known;
  const hides = snapshot.skills.some(({ versions }) => !versions.every(isForModels));
  hasHidden.set(snapshot, hides);
  return hides;
}

/**
 * Limits files to those that one caller sees. Files of an invisible skill or version are hidden, even if its directory is inside a visible
 * skill or reached by a link. A file belongs to the innermost skill that contains it.
 */
function toVisibleSource(
  { files, bytes }: SkillSource,
  { skills }: Snapshot,
  visible: IsVisible | undefined,
): SkillSource {
  if (visible === undefined) return { files, bytes };
  const isShown = new Map(
    skills.flatMap(({ versions }) => versions.map((skill) => [skill.directory, visible(skill)] as const)),
  );
  return { files: visibleFiles(files, isShown), bytes };
}

/** Hides the files of invisible skills. `isShown`: whether a skill is visible, by the real path of its directory. */
function visibleFiles(files: SkillFiles, isShown: ReadonlyMap<string, boolean>): SkillFiles {
  function isHidden(real: string): boolean {
    for (let directory = real; ; directory = dirname(directory)) {
      const shown = isShown.get(directory);
      if (shown !== undefined) return !shown;
      if (dirname(directory) === directory) return false;
    }
  }
  return {
    list: (directory) => files.list(directory).filter(({ name }) => isShown.get(joinPath(directory, name)) !== false),
    head: (file, limit) => files.head(file, limit),
    resolve(path) {
      const real = files.resolve(path);
      return real === undefined || isHidden(real) ? undefined : real;
    },
  };
}
