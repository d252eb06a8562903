import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type App, openApp } from "../../src/runtime/app.ts";
import { readOptions } from "../../src/runtime/options.ts";
import type { Snapshot } from "../../src/skills/skill.ts";
import type { SessionSkills } from "../../src/skills/skillset.ts";
import { toAvailableSkill } from "../../src/wire/command-facts.ts";
import {
  type FakeSource,
  fakeSource,
  isDown,
  listed,
  newDataDirectory,
  skillFiles,
  source,
} from "./store/open-store.ts";

const opened: App[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

interface Opened {
  readonly app: App;
  readonly session: SessionSkills;
  readonly home: string;
  readonly told: string[];
}

/** An app with one source and a home directory, and a session of it. */
function open(
  fake: Pick<FakeSource, "openReader">,
  { data = newDataDirectory(), home = newDataDirectory(), sources = [source.url], now = Date.now } = {},
): Opened {
  const told: string[] = [];
  const settings = readOptions(
    { dataDirectory: data, sources, log: (level: string, message: string) => void told.push(`${level} ${message}`) },
    { home },
  );
  const app = openApp(settings, { openReader: fake.openReader, now });
  opened.push(app);
  return { app, session: app.openSession({}), home, told };
}

/** Waits until the catalog's skills are these, each with its description. */
async function until({ session: { catalog } }: Opened, wanted: Readonly<Record<string, string>>): Promise<Snapshot> {
  const asWanted = JSON.stringify(Object.entries(wanted));
  return await new Promise((resolve) => {
    const look = (): void => {
      const found = catalog.snapshot.skills.map(({ skill }) => [skill.slug, skill.description]);
      if (JSON.stringify(found) === asWanted) resolve(catalog.snapshot);
    };
    catalog.onChange(look);
    look();
  });
}

function writeSkill(root: string, name: string, description: string): void {
  mkdirSync(path.join(root, name), { recursive: true });
  writeFileSync(path.join(root, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\n`);
}

function withDescription(name: string, description: string) {
  return [{ ...skillFiles(name)[0]!, bytes: Buffer.from(`---\nname: ${name}\ndescription: ${description}\n---\n`) }];
}

describe("a session with a source", () => {
  test("gets its skills as they are downloaded, changed and removed", async () => {
    const fake = fakeSource("alpha", "beta");
    const server = open(fake);
    await until(server, { alpha: "Does alpha.", beta: "Does beta." });
    await server.app.refreshSources();
    fake.skills = [listed("alpha", "2")];
    fake.files.set("alpha 2", withDescription("alpha", "Does more."));
    await server.app.refreshSources();
    await until(server, { alpha: "Does more." });
  });

  test("begins at once with the copies of before, however long the source takes", async () => {
    const data = newDataDirectory();
    const before = open(fakeSource("alpha"), { data });
    await before.app.refreshSources();
    await before.app.close();
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const silent = {
      openReader: async () => ({
        ...(await fakeSource().openReader()),
        read: (_source: unknown, _before: unknown, signal: AbortSignal) =>
          new Promise<never>((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error));
            isAsked();
          }),
      }),
    };
    const { app, session, told } = open(silent, { data, now: () => Date.now() + 7_200_000 });
    await asked;
    const { skills } = await session.catalog.ready;
    expect(skills.map(({ skill }) => skill.slug)).toEqual(["alpha"]);
    await app.close();
    expect(told).toEqual([]);
  });

  test("without a source or a copy has its other skills, and the reason is logged", async () => {
    const fake = fakeSource();
    fake.skills = isDown;
    const home = newDataDirectory();
    writeSkill(path.join(home, ".agents", "skills"), "own", "Is mine.");
    const { app, session, told } = open(fake, { home });
    const { skills } = await session.catalog.ready;
    expect(skills.map(({ skill }) => skill.slug)).toEqual(["own"]);
    await app.refreshSources();
    expect(told).toEqual([
      "warning The skills of https://skills.example/acme could not be read: skills.example: no connection. There is no copy of them yet.",
    ]);
  });

  test("marks them with their source, and not as the person's own", async () => {
    const server = open(fakeSource("alpha"));
    const { skills, ownRoots } = await until(server, { alpha: "Does alpha." });
    const [alpha] = skills;
    expect(alpha).toMatchObject({ remote: { label: source.label } });
    expect(alpha!.isOwn).toBeUndefined();
    expect(ownRoots).not.toContain(alpha!.sources[0]);
    expect(toAvailableSkill(alpha!)._meta?.["acp-skills"]?.source).toBe(source.label);
  });

  test("keeps a local skill of the same name, and reports the other as shadowed", async () => {
    const home = newDataDirectory();
    writeSkill(path.join(home, ".agents", "skills"), "alpha", "Is mine.");
    const server = open(fakeSource("alpha", "beta"), { home });
    const { skills, problems } = await until(server, { alpha: "Is mine.", beta: "Does beta." });
    expect(skills[0]).toMatchObject({ isOwn: true });
    expect(skills[0]!.remote).toBeUndefined();
    expect(problems.map(({ code }) => code)).toEqual(["skill-shadowed"]);
  });

  test("does not take over a local skill with the same bytes: it is the person's own", async () => {
    const home = newDataDirectory();
    const place = path.join(home, ".agents", "skills", "alpha");
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "SKILL.md"), skillFiles("alpha", "version 1")[0]!.bytes);
    const server = open(fakeSource("alpha", "beta"), { home });
    const { skills } = await until(server, { alpha: "Does alpha.", beta: "Does beta." });
    expect(skills[0]).toMatchObject({ isOwn: true, skill: { directory: place } });
  });
});

test("of two sources with one skill the first that was named counts", async () => {
  const fake = fakeSource("alpha");
  const other = "https://other.example/skills";
  const server = open(fake, { sources: [other, source.url] });
  const { skills } = await until(server, { alpha: "Does alpha." });
  expect(skills[0]?.sources.length).toBeGreaterThan(0);
  await server.app.refreshSources();
  await server.app.close();
  const again = open(fake, { sources: [source.url, other], data: newDataDirectory() });
  await again.app.refreshSources();
  await until(again, { alpha: "Does alpha." });
  await again.app.close();
  expect(server.told.concat(again.told)).toEqual([]);
});

test("a text that names no source is refused as an option", () => {
  expect(() => readOptions({ sources: ["ftp://x.example"] })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTIONS" }),
  );
  expect(() => readOptions({ sources: "example.com" })).toThrow("Option sources: expected an array of sources");
  expect(() => readOptions({ allowPrivate: [1] })).toThrow("Option allowPrivate: expected an array of hosts");
});
