import { byCodePoint } from "../../base/text/code-points.ts";
import type { Change, OfferedSkill, Snapshot } from "../../skills/skill.ts";
import type { SessionCatalog, Skillset } from "../../skills/skillset.ts";
import { type PublishedSkills, findBySlug } from "./published-skills.ts";

type Listener = Parameters<SessionCatalog["onChange"]>[0];

/** Adds the published skills to each session; a skill of the session has priority over one with its slug. `ready`: their first read. */
export function mergeSkillset(skillset: Skillset, published: PublishedSkills, ready: Promise<unknown>): Skillset {
  return {
    openSession(directories) {
      const session = skillset.openSession(directories);
      const catalog = new MergedCatalog(session.catalog, published, ready);
      const close = (): void => {
        catalog.close();
        session.close();
      };
      return { ...session, catalog, close };
    },
    close: async () => await skillset.close(),
  };
}

/** The merged snapshots. Sessions with the same skills share one, because much is derived from a snapshot. */
const merges = new WeakMap<Snapshot, { readonly offers: readonly OfferedSkill[]; readonly snapshot: Snapshot }>();

function merge(local: Snapshot, offers: readonly OfferedSkill[]): Snapshot {
  if (offers.length === 0) return local;
  const known = merges.get(local);
  if (known?.offers === offers) return known.snapshot;
  const snapshot = Object.freeze({ ...local, skills: mergeOffers(local.skills, offers) });
  merges.set(local, { offers, snapshot });
  return snapshot;
}

class MergedCatalog implements SessionCatalog {
  readonly ready: Promise<Snapshot>;
  readonly #local: SessionCatalog;
  readonly #published: PublishedSkills;
  readonly #listeners = new Set<Listener>();
  readonly #stops: readonly (() => void)[];
  /** The snapshot that listeners know; undefined before the first one. */
  #known: Snapshot | undefined;

  constructor(local: SessionCatalog, published: PublishedSkills, ready: Promise<unknown>) {
    [this.#local, this.#published] = [local, published];
    this.ready = Promise.all([local.ready, ready]).then(() => (this.#known = this.snapshot));
    this.#stops = [
      local.onChange((_snapshot, { added, removed, changed }) =>
        this.#notify([...added, ...removed, ...changed.map(({ after }) => after)].map(({ skill }) => skill.slug)),
      ),
      published.onChange((slugs) => this.#notify(slugs)),
    ];
  }

  get snapshot(): Snapshot {
    return merge(this.#local.snapshot, this.#published.offers);
  }

  find(nameOrSlug: string): OfferedSkill | undefined {
    const local = this.#local.find(nameOrSlug);
    if (local !== undefined) return local;
    const found = this.#published.find(nameOrSlug);
    return found !== undefined && findBySlug(this.#local.snapshot.skills, found.skill.slug) === undefined
      ? found
      : undefined;
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#listeners.clear();
  }

  /** Notifies the listeners of the changes of these skills. */
  #notify(slugs: Iterable<string>): void {
    const before = this.#known;
    if (before === undefined) return;
    const next = (this.#known = this.snapshot);
    const change = changeOf(before, next, slugs);
    const isSame = change.added.length + change.removed.length + change.changed.length === 0;
    if (isSame && before.problems === next.problems) return;
    for (const listener of [...this.#listeners]) listener(next, change);
  }
}

/** Merges two lists that are ordered by slug. If both have a slug, the offer of `local` is used. */
function mergeOffers(local: readonly OfferedSkill[], published: readonly OfferedSkill[]): readonly OfferedSkill[] {
  if (local.length === 0) return published;
  const merged: OfferedSkill[] = [];
  let at = 0;
  for (const offer of published) {
    const { slug } = offer.skill;
    let first = local[at];
    for (; first !== undefined && byCodePoint(first.skill.slug, slug) < 0; first = local[++at]) merged.push(first);
    if (first?.skill.slug !== slug) merged.push(offer);
  }
  return Object.freeze([...merged, ...local.slice(at)]);
}

function changeOf(before: Snapshot, after: Snapshot, slugs: Iterable<string>): Change {
  const [added, removed]: [OfferedSkill[], OfferedSkill[]] = [[], []];
  const changed: { readonly before: OfferedSkill; readonly after: OfferedSkill }[] = [];
  for (const slug of slugs) {
    const [old, now] = [findBySlug(before.skills, slug), findBySlug(after.skills, slug)];
    if (old === now) continue;
    if (old === undefined) added.push(now as OfferedSkill);
    else if (now === undefined) removed.push(old);
    else changed.push({ before: old, after: now });
  }
  return { added, removed, changed };
}
