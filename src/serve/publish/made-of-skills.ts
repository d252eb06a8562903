import { createSemaphore, type Steps, runInSlices } from "../../base/promises.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import type { App } from "../../runtime/app.ts";
import type { Audience } from "./audience.ts";
import type { Publication, PublishedSkill } from "./publication.ts";
import { type NotPublished, isNotPublished, orLeftOut, readContents, stampSkill } from "./read-contents.ts";
import type { SkillFile } from "../../sources/reader.ts";

/** The services of an app that publishing needs. */
export type PublishingApp = Pick<App, "clock" | "log" | "source">;

/** Results made of the files of each published skill, such as archives. Only those of changed skills are made again. */
export interface MadeOfSkills<Made> {
  /** Returns the result for one skill. */
  of(published: PublishedSkill): Promise<Made | NotPublished>;
  /** Makes the result for one skill anew, even if nothing changed. */
  again(published: PublishedSkill): Promise<Made | NotPublished>;
  /** Returns the results for all skills of an audience, by slug, without omitted skills. The same map as long as nothing changed. */
  ofAll(publication: Publication, audience: Pick<Audience, "view" | "mayHave">): Promise<ReadonlyMap<string, Made>>;
}

interface CachedOne<Made> {
  readonly of: PublishedSkill;
  readonly stamp: string | undefined;
  readonly made: Made | NotPublished;
  /** The last time when the result was found to match the disk. */
  checkedAt: number;
}

interface MadeOfAll<Made> {
  readonly publication: Publication;
  readonly made: ReadonlyMap<string, Made>;
  readonly checkAgainAt: number;
}

/** The maximum number of views whose results are cached. */
const maxViews = 32;
/** The interval of comparing files by their times and sizes, because a change of only a script is not reported. */
export const recheckMs = 2_000;
/** The maximum interval of comparing all skills. Up to it, the interval is 10 times the duration: a tenth of the time. */
const maxRecheckMs = 30_000;
/** The maximum number of skills read at a time, each for all skills and for single requests: one is read while another is compressed. */
const maxAtOnce = 2;
/** The number of skills after which the progress of long work is logged. */
const progressEvery = 1_000;

/**
 * Makes results only when they are requested, and yields to the event loop every few milliseconds. `what`: the noun for the results in the
 * log, such as "archive".
 */
export function createMadeOfSkills<Made extends object>(
  { source, log, clock }: PublishingApp,
  what: string,
  make: (files: readonly SkillFile[], published: PublishedSkill) => Steps<Made | NotPublished>,
): MadeOfSkills<Made> {
  /** Results by the directory of their skill. */
  const cached = new Map<string, CachedOne<Made>>();
  /** The directories of skills with hidden files, which are not published. */
  const withHidden = new Set<string>();
  let isHiddenLogged = false;
  const enter = createSemaphore(maxAtOnce);
  /** The results for all skills, by view. */
  const views = new LimitedMap<string, MadeOfAll<Made>>(maxViews);
  const running = new Map<string, { readonly publication: Publication; readonly made: Promise<MadeOfAll<Made>> }>();

  function* check(published: PublishedSkill): Steps<Made | NotPublished> {
    const { directory } = published.skill;
    const known = cached.get(directory);
    const startedAt = clock.now();
    if (known?.of.skill === published.skill) {
      if (startedAt - known.checkedAt < recheckMs) return known.made;
      const stamp = yield* orLeftOut(stampSkill(source, published.skill));
      if (typeof stamp === "string" && stamp === known.stamp) {
        known.checkedAt = startedAt;
        return known.made;
      }
    }
    const contents = yield* orLeftOut(readContents(source, published.skill));
    if (!isNotPublished(contents) && contents.hasHidden) withHidden.add(directory);
    const made = isNotPublished(contents) ? contents : yield* make(contents.files, published);
    const why = isNotPublished(made) ? made.why : undefined;
    if (why !== undefined && !(known !== undefined && isNotPublished(known.made) && known.made.why === why))
      log("warning", `${published.skill.slug} gets no ${what}: it ${why}.`);
    const stamp = isNotPublished(contents) ? undefined : contents.stamp;
    cached.set(directory, { of: published, stamp, made, checkedAt: startedAt });
    return made;
  }

  async function makeAll(
    publication: Publication,
    { view, mayHave }: Pick<Audience, "view" | "mayHave">,
  ): Promise<MadeOfAll<Made>> {
    const startedAt = clock.now();
    const before = views.get(view);
    const skills = publication.skills.filter(mayHave);
    const made = new Map<string, Made>();
    let next = 0;
    const isFirst = before === undefined && skills.length > progressEvery;
    function* work(): Steps<void> {
      for (let published = skills[next++]; published !== undefined; published = skills[next++]) {
        const one = yield* check(published);
        if (!isNotPublished(one)) made.set(published.skill.slug, one);
        if (isFirst && next % progressEvery === 0) log("info", `Made ${next} of ${skills.length} ${what}s.`);
        yield;
      }
    }
    // No turns are shared with single skills, which would have to wait for all.
    await Promise.all(Array.from({ length: maxAtOnce }, () => runInSlices(work())));
    forget(publication);
    if (withHidden.size > 0 && !isHiddenLogged)
      log("info", `Hidden files of ${withHidden.size} skills are in no ${what}.`);
    isHiddenLogged = true;
    const ordered = new Map(
      skills.flatMap(({ skill: { slug } }) => (made.has(slug) ? [[slug, made.get(slug) as Made]] : [])),
    );
    const isSame = before?.publication === publication && isEqual(before.made, ordered);
    const took = clock.now() - startedAt;
    const checkAgainAt = startedAt + Math.min(Math.max(recheckMs, took * 10), maxRecheckMs);
    const all = { publication, made: isSame ? before.made : ordered, checkAgainAt };
    views.delete(view);
    views.set(view, all);
    return all;
  }

  /** Forgets the results of skills that are no longer published. */
  function forget({ skills }: Publication): void {
    if (cached.size <= skills.length) return;
    const directories = new Set(skills.map(({ skill }) => skill.directory));
    for (const directory of cached.keys()) if (!directories.has(directory)) cached.delete(directory);
  }

  async function inTurn<Value>(steps: Steps<Value>): Promise<Value> {
    const leave = await enter();
    try {
      return await runInSlices(steps);
    } finally {
      leave();
    }
  }

  return {
    of: (published) => inTurn(check(published)),
    again(published) {
      cached.delete(published.skill.directory);
      return inTurn(check(published));
    },
    async ofAll(publication, audience) {
      const { view } = audience;
      const known = views.get(view);
      if (known?.publication === publication && clock.now() < known.checkAgainAt) return known.made;
      let current = running.get(view);
      if (current?.publication !== publication) {
        const made = makeAll(publication, audience).finally(() => {
          if (running.get(view)?.made === made) running.delete(view);
        });
        running.set(view, (current = { publication, made }));
      }
      return (await current.made).made;
    },
  };
}

function isEqual<Value>(one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}
