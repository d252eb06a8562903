import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Log } from "../../../src/base/log.ts";
import { TurnLock } from "../../../src/base/processes/turn-lock.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { RemoteIndex, RemoteSkill, SeenBefore, SkillFile, SourceReader } from "../../../src/sources/reader.ts";
import { parseSource } from "../../../src/sources/source.ts";
import { refreshSource } from "../../../src/sources/store/refresh-source.ts";
import { SourceRefresh } from "../../../src/sources/store/refresh.ts";
import { SkillStore } from "../../../src/sources/store/skill-store.ts";
import { SourceCopies } from "../../../src/sources/store/source-copies.ts";
import { type SourceState, type StorePaths, sourcePaths, storePaths } from "../../../src/sources/store/store-paths.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import { type YoungVersions, openYoungVersions } from "../../../src/sources/store/young-versions.ts";
import { type ManualClock, manualClock } from "../../manual-clock.ts";

export function newDataDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-remote-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function fileOf(place: string, text: string): SkillFile {
  return { path: place, bytes: Buffer.from(text), executable: false };
}

/** A SKILL.md whose body is `text`. */
export function skillFiles(name: string, text = "first"): readonly SkillFile[] {
  return [fileOf("SKILL.md", `---\nname: ${name}\ndescription: Does ${name}.\n---\n${text}\n`)];
}

/** How an index lists a skill whose bytes are known by `version`. */
export function listed(name: string, version: string, changes: Partial<RemoteSkill> = {}): RemoteSkill {
  const content = { type: "skill-md", url: `https://skills.example/${name}/${version}`, digest: version } as const;
  return { name, description: `Does ${name}.`, version, content, ...changes };
}

/** A source that answers as the test says. */
export interface FakeSource {
  /** What it lists; an error: what it throws. */
  skills: readonly RemoteSkill[] | Error;
  /** The rest of its index. */
  index: Partial<RemoteIndex>;
  /** Whether it says that nothing changed to who knows its etags. */
  isUnchanged: boolean;
  /** By name and version, instead of the usual files. */
  readonly files: Map<string, readonly SkillFile[] | Error>;
  /** What it was asked: `index`, and the name and version of each download. */
  readonly asked: string[];
  readonly seen: (SeenBefore | undefined)[];
  readonly openReader: () => Promise<SourceReader>;
}

export const source = parseSource("https://skills.example/acme");

export function fakeSource(...names: readonly string[]): FakeSource {
  const fake: FakeSource = {
    skills: names.map((name) => listed(name, "1")),
    index: {},
    isUnchanged: false,
    files: new Map(),
    asked: [],
    seen: [],
    openReader: () =>
      Promise.resolve({
        read(_source, before, signal) {
          signal.throwIfAborted();
          fake.asked.push("index");
          fake.seen.push(before);
          if (fake.skills instanceof Error) return Promise.reject(fake.skills);
          if (fake.isUnchanged && before !== undefined) return Promise.resolve(undefined);
          const { skills } = fake;
          return Promise.resolve({ source, form: "agent-skills-0.2", skills, problems: [], ...fake.index });
        },
        skillFiles({ name, version = "" }, signal) {
          signal.throwIfAborted();
          fake.asked.push(`${name} ${version}`);
          const files = fake.files.get(`${name} ${version}`) ?? skillFiles(name, `version ${version}`);
          return files instanceof Error ? Promise.reject(files) : Promise.resolve(files);
        },
        close: () => Promise.resolve(),
      }),
  };
  return fake;
}

export const isDown = new SkillsError("ENDPOINT_UNREACHABLE", "skills.example: no connection");

export interface OpenStore {
  readonly paths: StorePaths;
  readonly store: SkillStore;
  readonly copies: SourceCopies;
  readonly turns: TurnLock;
  readonly state: () => SourceState;
  /** The first body line of each skill that a catalog would find, by slug. */
  readonly bodies: () => Record<string, string>;
  /** One look at the source. */
  readonly look: (
    fake: FakeSource,
    options?: { readonly otherBytes?: number; readonly signal?: AbortSignal },
  ) => Promise<SourceState>;
}

export function openStore(dataDirectory = newDataDirectory(), now = (): number => 1_000, minimumDays = 0): OpenStore {
  const paths = storePaths(dataDirectory);
  const turns = new TurnLock(paths.turns, { pause: () => new Promise((resolve) => setImmediate(resolve)) });
  const store = new SkillStore(paths, createSkillHasher());
  const copies = new SourceCopies({ source, paths, store, turns, now });
  copies.open();
  const { skills } = sourcePaths(paths, source);
  return {
    paths,
    store,
    copies,
    turns,
    state: () => copies.state(),
    bodies: () =>
      Object.fromEntries(
        readdirSync(skills).map((slug) => {
          const text = readFileSync(path.join(skills, slug, "SKILL.md"), "utf8");
          return [slug, text.split("---\n")[2]?.trim() ?? ""];
        }),
      ),
    async look(fake, { otherBytes = 0, signal = new AbortController().signal } = {}) {
      const reader = await fake.openReader();
      vi.spyOn(copies, "otherBytes").mockReturnValue(otherBytes);
      const young = openYoungVersions(source.label, { dataDirectory, minimumDays, now });
      return await refreshSource({ copies, reader, young, signal });
    },
  };
}

export interface OpenRefresh extends OpenStore {
  readonly refresh: SourceRefresh;
  readonly clock: ManualClock;
  readonly told: string[];
  /** Passes time, and waits until what is due then has been done. */
  readonly pass: (ms: number) => Promise<void>;
}

/** A refresh whose clock the test advances; time since 1970 begins at 0. */
export function openRefresh(fake: FakeSource, { random = 0.5, dataDirectory = newDataDirectory() } = {}): OpenRefresh {
  const clock = manualClock();
  const now = (): number => clock.now();
  const opened = openStore(dataDirectory, now);
  const told: string[] = [];
  const log: Log = (_level, message) => void told.push(message);
  const { openReader } = fake;
  const openYoung = (): YoungVersions => openYoungVersions(source.label, { dataDirectory, minimumDays: 0, now });
  const { copies } = opened;
  const refresh = new SourceRefresh({ copies, openReader, openYoung, clock, random: () => random, log });
  return {
    ...opened,
    refresh,
    clock,
    told,
    async pass(ms) {
      clock.pass(ms);
      await refresh.idle();
    },
  };
}
