import { setMaxListeners } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { openSkillset } from "../../src/skills/skillset.ts";
import type { Change } from "../../src/skills/skill.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { DatabaseError } from "../../src/cluster/database/database-error.ts";
import {
  type ClusterCatalog,
  type VersionToPublish,
  openClusterCatalog,
  publishVersion,
  withdrawVersions,
} from "../../src/cluster/catalog.ts";
import { type SkillPacks, openSkillPacks } from "../../src/cluster/skills.ts";
import { manualClock } from "../manual-clock.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";
import { digestOfDirectory, newDirectory, writeSkill } from "./skill-directory.ts";

const { signal } = new AbortController();
setMaxListeners(0, signal);
const opened: { close(): unknown }[] = [];
afterAll(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

interface Member {
  readonly catalog: ClusterCatalog;
  readonly packs: SkillPacks;
  readonly logged: string[];
  readonly dataDirectory: string;
  readonly slugs: () => string[];
  readonly changes: Change[];
  readonly skills: ReturnType<ReturnType<typeof openSkillset>["openSession"]>["catalog"];
  close(): Promise<void>;
}

/** A server of a cluster, which follows its catalog. */
async function openMember(
  database: Database,
  options: { dataDirectory?: string; local?: readonly string[]; policy?: string; clock?: Clock } = {},
): Promise<Member> {
  const { dataDirectory = newDirectory(), local = [], policy, clock = systemClock } = options;
  const logged: string[] = [];
  const log = (_level: string, message: string): void => void logged.push(message);
  const settings = { dataDirectory, clock, log, policy, home: newDirectory(), cluster: "postgres://h/x" };
  const packs = openSkillPacks(database, { dataDirectory, clock: systemClock, log });
  const catalog = openClusterCatalog(database, packs, settings);
  const skillset = catalog.addSkills(openSkillset({ ...settings, directories: local, defaultRoots: false }));
  const session = skillset.openSession({});
  await session.catalog.ready;
  const changes: Change[] = [];
  session.catalog.onChange((_snapshot, change) => changes.push(change));
  const member = {
    ...{ catalog, packs, logged, dataDirectory, changes, skills: session.catalog },
    slugs: () => session.catalog.snapshot.skills.map(({ skill }) => skill.slug),
    async close() {
      catalog.close();
      await skillset.close();
      await packs.close();
    },
  };
  onTestFinished(async () => await member.close());
  return member;
}

async function publish(
  database: Database,
  name: string,
  { version = "1.0.0", files = {} }: { version?: string; files?: Readonly<Record<string, string>> } = {},
): Promise<boolean> {
  return await publishVersion(database, await stored(database, name, { version, files }));
}

/** Its files are in the database; it is not published. */
async function stored(
  database: Database,
  name: string,
  { version = "1.0.0", files = {} }: { version?: string; files?: Readonly<Record<string, string>> } = {},
): Promise<VersionToPublish> {
  const directory = writeSkill(name, files, { version });
  const digest = await digestOfDirectory(directory);
  const packs = openSkillPacks(database, { dataDirectory: newDirectory(), clock: systemClock, log: silentLog });
  await packs.store({ directory, name }, digest, signal);
  await packs.close();
  return { slug: name, name, version, digest, by: "tester" };
}

function catalogContract(name: string, open: () => Promise<Database>): void {
  describe(`published skills in ${name}`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
    }, 60_000);
    beforeEach(async () => {
      await database.query("delete from acp_skills.catalog");
      await database.query("update acp_skills.catalog_revision set revision = 0, id = gen_random_uuid()");
    });

    test("are those of others in the sessions of each member, with their files and their digest", async () => {
      const member = await openMember(database);
      expect(await publish(database, "pdf", { files: { "scripts/run.py": "print(1)\n" } })).toBe(true);
      await expect.poll(member.slugs).toEqual(["pdf"]);
      const offered = member.skills.find("pdf");
      expect(offered).toMatchObject({ sources: ["cluster"], problems: [], skill: { version: "1.0.0", name: "pdf" } });
      expect(offered?.isOwn).toBeUndefined();
      const { directory = "" } = offered?.skill ?? {};
      expect(offered?.remote?.label).toBe("cluster");
      expect(offered?.remote?.url).toBe("https://h:5432/x");
      expect(offered?.remote?.provenanceOf(directory)).toEqual({ digest: await digestOfDirectory(directory) });
      expect(offered?.remote?.provenanceOf(path.dirname(directory))).toBeUndefined();
      expect(readFileSync(path.join(directory, "scripts/run.py"), "utf8")).toBe("print(1)\n");
      expect(member.changes.map(({ added }) => added.map(({ skill }) => skill.slug))).toEqual([["pdf"]]);
      expect(member.catalog.age()).toBeLessThan(60_000);
    });

    test("are found by their canonical name, too", async () => {
      const manifest = `name = "acme.sheet"\nversion = "2.0.0"\ndescription = "Sheets."\nkind = "instruction"\n`;
      const directory = writeSkill("acme-sheet", { "skill.toml": manifest });
      const digest = await digestOfDirectory(directory);
      const member = await openMember(database);
      await member.packs.store({ directory, name: "acme.sheet" }, digest, signal);
      const one = { slug: "acme-sheet", name: "acme.sheet", version: "2.0.0", digest, by: "tester" };
      await publishVersion(database, one);
      await expect.poll(() => member.skills.find("acme.sheet")?.skill.version).toBe("2.0.0");
      expect(member.skills.find("acme-sheet")).toBe(member.skills.find("acme.sheet"));
      expect(member.skills.find("acme")).toBeUndefined();
    });

    test("never change: a version with other content is refused, the same content is not published twice", async () => {
      await publish(database, "fixed");
      expect(await publish(database, "fixed")).toBe(false);
      await expect(publish(database, "fixed", { files: { "a.txt": "more" } })).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringMatching(
          /^It is not published: fixed 1\.0\.0 is published with other content \(sha256:/,
        ) as string,
      });
      expect(await publish(database, "fixed", { version: "1.0.1", files: { "a.txt": "more" } })).toBe(true);
    });

    test("are refused under the name of another skill, and without their files", async () => {
      await publish(database, "a-b");
      const other = await stored(database, "a-b", { version: "2.0.0" });
      await expect(publishVersion(database, { ...other, name: "a.b" })).rejects.toThrow(
        "the name a-b is that of the published skill a-b",
      );
      const digest = `sha256:${"0".repeat(64)}`;
      const missing = { slug: "c", name: "c", version: "1.0.0", digest, by: "tester" };
      await expect(publishVersion(database, missing)).rejects.toMatchObject({ code: "SKILL_NOT_READY" });
    });

    test("are the newest release first, with all versions", async () => {
      const member = await openMember(database);
      for (const version of ["1.2.0", "1.10.0", "2.0.0-beta.1"]) await publish(database, "many", { version });
      await expect.poll(() => member.skills.find("many")?.versions.length).toBe(3);
      expect(member.skills.find("many")?.skill.version).toBe("1.10.0");
      expect(member.skills.find("many")?.versions.map(({ version }) => version)).toEqual([
        "2.0.0-beta.1",
        "1.10.0",
        "1.2.0",
      ]);
    });

    test("are gone when they are withdrawn, and back when the same is published again", async () => {
      const member = await openMember(database);
      await publish(database, "gone");
      await publish(database, "gone", { version: "1.1.0" });
      await expect.poll(() => member.skills.find("gone")?.versions.length).toBe(2);
      expect(await withdrawVersions(database, { name: "gone", version: "1.1.0" })).toEqual(["1.1.0"]);
      await expect.poll(() => member.skills.find("gone")?.skill.version).toBe("1.0.0");
      expect(await withdrawVersions(database, { name: "gone" })).toEqual(["1.0.0"]);
      await expect.poll(() => member.skills.find("gone")).toBeUndefined();
      expect(await withdrawVersions(database, { name: "gone" })).toEqual([]);
      expect(await publish(database, "gone")).toBe(true);
      await expect.poll(() => member.skills.find("gone")?.skill.version).toBe("1.0.0");
    });

    test("come after the member's own, which have their names", async () => {
      const own = writeSkill("same", { "own.txt": "" });
      const member = await openMember(database, { local: [path.dirname(own)] });
      await publish(database, "same");
      await publish(database, "zebra");
      await publish(database, "ape");
      await expect.poll(member.slugs).toEqual(["ape", "same", "zebra"]);
      expect(member.skills.find("same")?.skill.directory).toBe(own);
      expect(member.skills.find("same")?.remote).toBeUndefined();
      const added = member.changes.flatMap((change) => change.added.map(({ skill }) => skill.slug));
      expect(added.toSorted()).toEqual(["ape", "zebra"]);
    });

    test("replace an older version when they are as old as the policy demands", async () => {
      const policy = path.join(newDirectory(), "policy.json");
      writeFileSync(policy, '{ "minimumAge": 7 }');
      const member = await openMember(database, { policy });
      await publish(database, "aged");
      await expect.poll(() => member.skills.find("aged")?.skill.version).toBe("1.0.0");
      await publish(database, "aged", { version: "2.0.0" });
      await publish(database, "next");
      await expect.poll(() => member.skills.find("next")?.skill.version).toBe("1.0.0");
      expect(member.skills.find("aged")?.skill.version).toBe("1.0.0");
      await database.query("update acp_skills.catalog set published_at = published_at - interval '8 days'");
      const later = await openMember(database, { policy });
      expect(later.skills.find("aged")?.versions.length).toBe(2);
      expect(later.skills.find("aged")?.skill.version).toBe("2.0.0");
    });

    test("come when they are old enough, and those before them stay until then", async () => {
      const policy = path.join(newDirectory(), "policy.json");
      writeFileSync(policy, '{ "minimumAge": 7 }');
      await publish(database, "aged");
      await publish(database, "aged", { version: "1.1.0" });
      await database.query("update acp_skills.catalog set published_at = published_at - interval '8 days'");
      const clock = manualClock();
      const member = await openMember(database, { policy, clock });
      await publish(database, "aged", { version: "2.0.0" });
      await publish(database, "next");
      await expect.poll(() => member.skills.find("next")?.skill.version).toBe("1.0.0");
      expect(member.skills.find("aged")?.versions.map(({ version }) => version)).toEqual(["1.1.0", "1.0.0"]);
      clock.pass(8 * 24 * 60 * 60 * 1_000);
      await expect.poll(() => member.skills.find("aged")?.skill.version).toBe("2.0.0");
    });

    test("stay without the database, with their age in the log", async () => {
      let isAway = false;
      const clock = manualClock();
      const leaving: Database = {
        ...deadDatabase(),
        query: async (text, values) => await (isAway ? deadDatabase() : database).query(text, values),
        listen: () => () => undefined,
      };
      await publish(database, "stays", { files: { "a.txt": "a" } });
      const member = await openMember(leaving, { clock });
      expect(member.slugs()).toEqual(["stays"]);
      isAway = true;
      clock.pass(600_000);
      await expect
        .poll(() => member.logged)
        .toEqual([
          "The published skills of the cluster cannot be read; what was read 600 s ago stays in force: Error: no database",
        ]);
      expect(member.slugs()).toEqual(["stays"]);
      expect(member.catalog.age()).toBe(600_000);
    });

    test("that somebody damaged on this machine are downloaded again, and not offered without the database", async () => {
      const first = await openMember(database);
      await publish(database, "damaged", { files: { "a.txt": "a" } });
      await expect.poll(first.slugs).toEqual(["damaged"]);
      const { directory = "" } = first.skills.find("damaged")?.skill ?? {};
      await first.close();
      const digest = await digestOfDirectory(directory);
      writeFileSync(path.join(directory, "b.txt"), "b");
      const later = await openMember(database, { dataDirectory: first.dataDirectory });
      await expect.poll(async () => await digestOfDirectory(directory)).toBe(digest);
      await later.close();
      writeFileSync(path.join(directory, "b.txt"), "b");
      const alone = await openMember(deadDatabase(), { dataDirectory: first.dataDirectory });
      await expect.poll(alone.slugs).toEqual([]);
    });

    test("are those of another database where there is one", async () => {
      const member = await openMember(database);
      await publish(database, "before");
      await expect.poll(member.slugs).toEqual(["before"]);
      await database.query("delete from acp_skills.catalog");
      await database.query("update acp_skills.catalog_revision set revision = 0, id = gen_random_uuid()");
      await publish(database, "after");
      await expect.poll(member.slugs).toEqual(["after"]);
    });

    describe("in rows that nobody of us wrote", () => {
      test.each([
        ["another version", "1.0.1", "hostile", /its files are hostile 1\.0\.0/],
        ["another name", "1.0.0", "other", /its files are hostile 1\.0\.0/],
      ])("are not offered as %s", async (_what, version, slug, reason) => {
        const member = await openMember(database);
        const one = await stored(database, "hostile");
        await publishVersion(database, { ...one, slug, name: slug, version });
        await expect.poll(() => member.logged.join("\n")).toMatch(reason);
        expect(member.slugs()).toEqual([]);
      });

      test("are passed over where they name a path, and do not hold up others", async () => {
        const member = await openMember(database);
        const one = await stored(database, "hostile");
        await publishVersion(database, { ...one, slug: "../../escaped" });
        await publish(database, "good");
        await expect.poll(member.slugs).toEqual(["good"]);
        expect(existsSync(path.join(member.dataDirectory, "escaped"))).toBe(false);
      });

      test("are passed over where their files are missing or wrong, and offered once they are right", async () => {
        const member = await openMember(database);
        const one = await stored(database, "late");
        const key = Buffer.from(one.digest.slice(7), "hex");
        await database.query("update acp_skills.skill_parts set bytes = '\\x00' where digest = $1", [key]);
        await publishVersion(database, one);
        await expect.poll(() => member.logged.join("\n")).toMatch(/late 1\.0\.0 is not here: .*bytes of files, not/);
        await publish(database, "good");
        await expect.poll(member.slugs).toEqual(["good"]);
        await database.query("delete from acp_skills.skill_packs where digest = $1", [key]);
        await stored(database, "late");
        await publish(database, "next");
        await expect.poll(member.slugs).toEqual(["good", "late", "next"]);
      });

      test("are tried again after an outage in which their files were asked for", async () => {
        let isAway = false;
        const leaving: Database = {
          ...deadDatabase(),
          async query(text, values) {
            if (isAway && text.includes("skill_packs"))
              throw new DatabaseError("no database", { cause: undefined, state: "", isOutage: true });
            return await database.query(text, values);
          },
        };
        const one = await stored(database, "late");
        const key = Buffer.from(one.digest.slice(7), "hex");
        await publishVersion(database, one);
        await database.query("delete from acp_skills.skill_packs where digest = $1", [key]);
        const clock = manualClock();
        const member = await openMember(leaving, { clock });
        await expect.poll(() => member.logged.join("\n")).toMatch(/late 1\.0\.0 is not here/);
        isAway = true;
        clock.pass(10_000);
        await expect.poll(() => member.logged.join("\n")).toMatch(/cannot be read; what was read 10 s ago stays/);
        isAway = false;
        await stored(database, "late");
        clock.pass(10_000);
        await expect.poll(member.slugs).toEqual(["late"]);
      });
    });
  });
}

function deadDatabase(): Database {
  const fail = (): Promise<never> => Promise.reject(new Error("no database"));
  return {
    query: fail,
    readBytes: fail,
    transaction: fail,
    listen: () => () => undefined,
    notify: () => undefined,
    close: () => Promise.resolve(),
  };
}

catalogContract("PGlite", async () => {
  const database = await openPglite();
  opened.push(database);
  return database;
});

describe.skipIf(postgresFault())("with a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    opened.push({ close: () => server.stop() });
  }, 60_000);
  async function openNew(url: string): Promise<Database> {
    const database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
    opened.push(database);
    return database;
  }

  catalogContract("PostgreSQL", async () => await openNew(await server.newDatabase()));

  test("concurrent publishers get one revision each, and every follower sees all of them", async () => {
    const url = await server.newDatabase();
    const databases = await Promise.all(Array.from({ length: 3 }, async () => await openNew(url)));
    const members = await Promise.all(databases.map(async (database) => await openMember(database)));
    const names = Array.from({ length: 30 }, (_, index) => `skill-${String(index).padStart(2, "0")}`);
    const all = await Promise.all(names.map(async (one, index) => await stored(databases[index % 3] as Database, one)));
    await Promise.all(all.map(async (one, index) => await publishVersion(databases[(index + 1) % 3] as Database, one)));
    for (const member of members) await expect.poll(member.slugs, { timeout: 10_000 }).toEqual(names);
    const rows = await (databases[0] as Database).query<{ revision: number }>(
      "select revision::float8 as revision from acp_skills.catalog order by revision",
    );
    expect(rows.map(({ revision }) => revision)).toEqual(names.map((_, index) => index + 1));
  }, 60_000);

  test("a publication that commits late is not missed by who has read a later one", async () => {
    const url = await server.newDatabase();
    const [slow, fast] = [await openNew(url), await openNew(url)];
    const member = await openMember(fast);
    const [first, second] = [await stored(fast, "first"), await stored(fast, "second")];
    let commit = (): void => undefined;
    const hold = new Promise<void>((resolve) => (commit = resolve));
    const begun = new Promise<void>((resolve) => {
      const holding: Database = {
        ...deadDatabase(),
        transaction: async (work) =>
          await slow.transaction(async (queries) => {
            const result = await work(queries);
            resolve();
            await hold;
            return result;
          }),
      };
      opened.push({ close: () => publishing });
      const publishing = publishVersion(holding, first);
    });
    await begun;
    const later = publishVersion(fast, second);
    const waiting =
      "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'";
    await expect.poll(async () => (await slow.query<{ count: number }>(waiting))[0]?.count).toBe(1);
    expect(member.slugs()).toEqual([]);
    commit();
    await later;
    await expect.poll(member.slugs).toEqual(["first", "second"]);
  }, 60_000);

  test("a member whose connections were cut has what was published meanwhile", async () => {
    const url = await server.newDatabase();
    const [own, other] = [await openNew(url), await openNew(url)];
    const member = await openMember(own);
    await publish(other, "before");
    await expect.poll(member.slugs).toEqual(["before"]);
    await other.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await publish(other, "meanwhile");
    await expect.poll(member.slugs, { timeout: 15_000 }).toEqual(["before", "meanwhile"]);
  }, 60_000);

  test("a killed server is followed again after its start, and the skills stay meanwhile", async () => {
    const url = await server.newDatabase();
    const [own, other] = [await openNew(url), await openNew(url)];
    const member = await openMember(own);
    await publish(other, "before");
    await expect.poll(member.slugs).toEqual(["before"]);
    server.kill();
    await expect(other.query("select pg_sleep(20)")).rejects.toThrow();
    expect(member.slugs()).toEqual(["before"]);
    await server.start();
    await expect.poll(async () => await publish(other, "after").catch(() => undefined), { timeout: 15_000 }).toBe(true);
    await expect.poll(member.slugs, { timeout: 15_000 }).toEqual(["after", "before"]);
  }, 60_000);
});
