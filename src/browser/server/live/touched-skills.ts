import path from "node:path";
import { latestWork, runInSlices } from "../../../base/promises.ts";
import { undefinedIfOurs } from "../../../base/errors.ts";
import { walkSkill } from "../../../skills/hash.ts";
import { nativeWatchers } from "../../../skills/skillset.ts";
import { every } from "../../../base/clock.ts";
import { hashShown } from "../detail/show-skill.ts";
import type { ShownSkill } from "../rows/row-texts.ts";
import type { SkillTouched } from "../../wire/skills.ts";
import type { BrowseContext } from "../browse-context.ts";

/** Watches all files of the 16 skills that pages read last. The catalog notices only changes of the files that it lists. */
export interface TouchedSkills {
  /** `digest`: the digest of the files that were shown. */
  readonly watch: (shown: ShownSkill, digest: string | undefined) => void;
  readonly close: () => Promise<void>;
}

interface Watched {
  readonly shown: ShownSkill;
  digest: string | undefined;
  readonly directories: Set<string>;
}

const maxSkills = 16;
const maxDirectories = 64;
const debounceMs = 20;
/** The interval of refreshing what no watcher reports: files of skills that no page has open, and decisions of other processes. */
const refreshEveryMs = 15_000;

type Served = Pick<BrowseContext, "app" | "skills" | "events" | "dataDirectory">;

export function openTouchedSkills({ app, skills, events, dataDirectory }: Served): TouchedSkills {
  const { clock, log } = app;
  const closing = new AbortController();
  const watched = new Map<string, Watched>();
  const hinted = new Set<string>();
  let cancel: (() => void) | undefined;
  const watcher = nativeWatchers()(hint, (message) => log("warning", message));
  /** The directories of the user's answers. */
  const ofApprovals = [path.join(dataDirectory, "trust"), path.join(dataDirectory, "trust", "projects")];
  for (const directory of ofApprovals) watcher.add(directory);
  const stopRefreshing = every(clock, refreshEveryMs, () => {
    if (events.connected() > 0) void skills.refreshStandings();
  });

  function hint(directory: string): void {
    hinted.add(directory);
    cancel ??= clock.after(debounceMs, () => {
      cancel = undefined;
      void rescan();
    });
  }

  const rescan = latestWork(
    async () => {
      const directories = new Set(hinted);
      hinted.clear();
      const edited: ShownSkill[] = [];
      const isDecided = ofApprovals.some((directory) => directories.has(directory));
      for (const [id, one] of watched) {
        if (![...one.directories].some((directory) => directories.has(directory))) continue;
        const digest = await digestOf(one.shown);
        if (digest === one.digest) continue;
        one.digest = digest;
        edited.push(one.shown);
        await follow(one);
        events.push("skill", { id } satisfies SkillTouched);
      }
      if ((isDecided || edited.length > 0) && !closing.signal.aborted) await skills.refreshStandings(edited);
    },
    (error) => {
      if (!closing.signal.aborted) log("warning", `Changes of skills that are open are not noticed: ${String(error)}`);
    },
  );

  async function digestOf({ offered }: ShownSkill): Promise<string | undefined> {
    // The skill may have been removed.
    const hashed = offered && (await hashShown({ app }, offered.skill, closing.signal).catch(undefinedIfOurs));
    return hashed?.digest;
  }

  /** Watches the directories that now have files of the skill. */
  async function follow({ shown, directories }: Watched): Promise<void> {
    const { offered } = shown;
    if (offered === undefined) return;
    const { directory } = offered.skill;
    const { files } = await runInSlices(walkSkill(app.source.files, directory));
    for (const watched of new Set([directory, ...files.map(({ real }) => path.dirname(real))])) {
      if (directories.size >= maxDirectories) break;
      if (directories.has(watched) || closing.signal.aborted) continue;
      directories.add(watched);
      watcher.add(watched);
    }
  }

  function forget(id: string): void {
    const one = watched.get(id);
    watched.delete(id);
    const others = new Set([...watched.values()].flatMap(({ directories }) => [...directories]));
    for (const directory of one?.directories ?? []) if (!others.has(directory)) watcher.remove(directory);
  }

  return {
    watch(shown, digest) {
      if (shown.offered === undefined || closing.signal.aborted) return;
      const { id } = shown.row;
      const known = watched.get(id);
      watched.delete(id);
      const one: Watched = { shown, digest, directories: known?.directories ?? new Set() };
      watched.set(id, one);
      const [oldest] = watched.keys();
      if (watched.size > maxSkills && oldest !== undefined) forget(oldest);
      // The list shows a skill that can no longer be read.
      follow(one).catch(() => undefined);
    },
    async close() {
      closing.abort();
      cancel?.();
      stopRefreshing();
      await watcher.close();
    },
  };
}
