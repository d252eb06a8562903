import type { Clock } from "../../base/clock.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { byNewestVersion, isPrerelease } from "../../skills/manifest.ts";
import { type OfferedSkill, type Skill, toSlug } from "../../skills/skill.ts";
import type { RemoteOrigin } from "../../skills/skillset.ts";

/** A published version. If an older version is offered, this one must reach the minimum age first. */
export interface CatalogVersion {
  readonly skill: Skill;
  /** The time of publication; see `CatalogEntry`. */
  readonly publishedAt: number;
}

/** A change of one version: published with a skill, or withdrawn (undefined). */
export interface VersionChange {
  readonly slug: string;
  readonly version: string;
  readonly published: CatalogVersion | undefined;
}

type Listener = (slugs: ReadonlySet<string>) => void;

const none: readonly never[] = Object.freeze([]);
const sources = Object.freeze(["cluster"]);
const dayMs = 24 * 60 * 60 * 1_000;
const digestAt = /[\\/]([0-9a-f]{64})[\\/]([^\\/]+)$/;

/** The published skills in memory. Lists are never changed, but replaced. */
export class PublishedSkills {
  readonly origin: RemoteOrigin;
  readonly #minimumDays: () => number;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  /** The few versions that are too young to be offered, by slug. */
  readonly #young = new Map<string, readonly CatalogVersion[]>();
  #offers: readonly OfferedSkill[] = none;

  /** `url`: see `RemoteOrigin`. `minimumDays`: the age at which a version may replace another one. */
  constructor(url: string | undefined, minimumDays: () => number, clock: Clock) {
    [this.#minimumDays, this.#clock] = [minimumDays, clock];
    const provenanceOf = (directory: string): { readonly digest: string } | undefined => this.#provenanceOf(directory);
    this.origin = Object.freeze({ label: "cluster", url, provenanceOf });
  }

  /** The offered skills: one for each slug, ordered by code point. */
  get offers(): readonly OfferedSkill[] {
    return this.#offers;
  }

  /** Finds a skill by its slug or canonical name. */
  find(nameOrSlug: string): OfferedSkill | undefined {
    const found = findBySlug(this.#offers, toSlug(nameOrSlug) ?? "");
    return found?.skill.slug === nameOrSlug || found?.skill.name === nameOrSlug ? found : undefined;
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  apply(changes: readonly VersionChange[]): void {
    const versions = new Map<string, Map<string, CatalogVersion>>();
    for (const { slug, version, published } of changes) {
      const known = versions.get(slug) ?? this.versionsOf(slug);
      versions.set(slug, known);
      if (published === undefined) known.delete(version);
      else known.set(version, published);
    }
    this.#replace(versions);
  }

  /** Offers versions that have reached the minimum age. */
  grow(): void {
    this.#replace(new Map([...this.#young.keys()].map((slug) => [slug, this.versionsOf(slug)])));
  }

  clear(): void {
    this.#replace(new Map(this.#offers.map(({ skill }) => [skill.slug, new Map()])));
  }

  /** The directories of all versions. */
  *directories(): Iterable<string> {
    for (const { versions } of this.#offers) for (const { directory } of versions) yield directory;
    for (const versions of this.#young.values()) for (const { skill } of versions) yield skill.directory;
  }

  /** Returns the versions of a skill, including too young ones. The `publishedAt` of offered versions is -Infinity. */
  versionsOf(slug: string): Map<string, CatalogVersion> {
    const offered = findBySlug(this.#offers, slug)?.versions ?? none;
    const old = offered.map((skill) => [skill.version, { skill, publishedAt: -Infinity }] as const);
    return new Map([...old, ...(this.#young.get(slug) ?? none).map((one) => [one.skill.version, one] as const)]);
  }

  #replace(versions: ReadonlyMap<string, ReadonlyMap<string, CatalogVersion>>): void {
    if (versions.size === 0) return;
    const before = this.#offers;
    const changed = [...versions.keys()].toSorted(byCodePoint);
    const next: OfferedSkill[] = [];
    let from = 0;
    for (const slug of changed) {
      const to = firstFrom(before, slug);
      for (; from < to; from++) next.push(before[from] as OfferedSkill);
      if (before[from]?.skill.slug === slug) from++;
      const offer = this.#toOffer(slug, [...(versions.get(slug)?.values() ?? [])]);
      if (offer !== undefined) next.push(offer);
    }
    for (; from < before.length; from++) next.push(before[from] as OfferedSkill);
    this.#offers = Object.freeze(next);
    for (const listener of [...this.#listeners]) listener(new Set(changed));
  }

  #toOffer(slug: string, all: readonly CatalogVersion[]): OfferedSkill | undefined {
    const youngest = this.#clock.now() - this.#minimumDays() * dayMs;
    const old = all.filter(({ publishedAt }) => publishedAt <= youngest);
    // The first version of a skill replaces none, so that its age does not matter.
    const [first] = all.toSorted((a, b) => a.publishedAt - b.publishedAt);
    const offered = old.length > 0 || first === undefined ? old : [first];
    const young = all.filter((one) => !offered.includes(one));
    if (young.length > 0) this.#young.set(slug, young);
    else this.#young.delete(slug);
    const versions = offered.map(({ skill }) => skill).sort((a, b) => byNewestVersion(a.version, b.version));
    const skill = versions.find(({ version }) => !isPrerelease(version)) ?? versions[0];
    if (skill === undefined) return undefined;
    return Object.freeze({
      skill,
      sources,
      problems: none,
      remote: this.origin,
      versions: Object.freeze(versions),
    });
  }

  #provenanceOf(directory: string): { readonly digest: string } | undefined {
    const [, digest, slug = ""] = digestAt.exec(directory) ?? [];
    const isCurrent = findBySlug(this.#offers, slug)?.versions.some((skill) => skill.directory === directory) === true;
    return digest !== undefined && isCurrent ? { digest: `sha256:${digest}` } : undefined;
  }
}

/** Returns the index of the first skill whose slug is not before this one, in a list ordered by slug. */
function firstFrom(offers: readonly OfferedSkill[], slug: string): number {
  let [low, high] = [0, offers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byCodePoint(offers[middle]?.skill.slug ?? "", slug) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function findBySlug(offers: readonly OfferedSkill[], slug: string): OfferedSkill | undefined {
  const found = offers[firstFrom(offers, slug)];
  return found?.skill.slug === slug ? found : undefined;
}
