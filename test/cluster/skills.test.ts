import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { digestOf } from "../../src/skills/hash.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { isOutage } from "../../src/cluster/database/database-error.ts";
import { type SkillPacks, openSkillPacks } from "../../src/cluster/skills.ts";
import { manualClock } from "../manual-clock.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";
import { digestOfDirectory, newDirectory, writeSkill } from "./skill-directory.ts";

const { signal } = new AbortController();
const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const openedIn = (database: Database, dataDirectory = newDirectory(), more = {}): SkillPacks =>
  openSkillPacks(database, { dataDirectory, clock: manualClock(), log: silentLog, ...more });

function filesBelow(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(directory, file), sha256(readFileSync(file))]),
  );
}

function packContract(name: string, open: () => Promise<{ database: Database; close: () => Promise<void> }>): void {
  describe(`packs of skills in ${name}`, () => {
    let database: Database;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ database, close } = await open());
    }, 60_000);
    afterAll(async () => await close());

    test("are stored once, and arrive elsewhere with the same files, of any size", async () => {
      const large = new Uint8Array(2.5 * 1024 * 1024).map((_, index) => index * 7);
      const directory = writeSkill("pdf", {
        "scripts/run.py": "#!/usr/bin/env python3\n",
        "data/large.bin": large,
        "data/empty": "",
        "whole-part.bin": large.subarray(0, 1024 * 1024),
        ".hidden": "not one of its files",
        "skill.sigstore.json": "{}",
      });
      const digest = await digestOfDirectory(directory);
      await openedIn(database).store({ directory, name: "pdf" }, digest, signal);
      await openedIn(database).store({ directory, name: "pdf" }, digest, signal);
      const dataDirectory = newDirectory();
      const place = await openedIn(database, dataDirectory).ensure(digest, "pdf", signal);
      expect(place).toBe(path.join(dataDirectory, "cluster", "store", digest.slice(7), "pdf"));
      const { ".hidden": hidden, ...served } = filesBelow(directory);
      expect(hidden).toBeDefined();
      expect(filesBelow(place)).toEqual(served);
      expect(await digestOfDirectory(place)).toBe(digest);
      expect(statSync(path.join(place, "scripts/run.py")).mode & 0o777).toBe(0o500);
      expect(statSync(path.join(place, "data/empty")).mode & 0o777).toBe(0o400);
    });

    test("are downloaded once by concurrent calls, and not again in the same directory", async () => {
      const directory = writeSkill("once", { "a.txt": "a" });
      const digest = await digestOfDirectory(directory);
      let reads = 0;
      const counted: Database = {
        readBytes: async (...given) => await database.readBytes(...given),
        transaction: async (work) => await database.transaction(work),
        listen: () => () => undefined,
        notify: () => undefined,
        close: () => Promise.resolve(),
        query: async (text, values) => {
          if (text.includes("octet_length(files)")) reads++;
          return await database.query(text, values);
        },
      };
      const dataDirectory = newDirectory();
      const packs = openedIn(counted, dataDirectory);
      await packs.store({ directory, name: "once" }, digest, signal);
      const places = await Promise.all(Array.from({ length: 5 }, () => packs.ensure(digest, "once", signal)));
      expect(new Set(places).size).toBe(1);
      await openedIn(counted, dataDirectory).ensure(digest, "once", signal);
      expect(reads).toBe(1);
    });

    test("are not there where nobody has stored them", async () => {
      const digest = `sha256:${"0".repeat(64)}`;
      await expect(openedIn(database).ensure(digest, "pdf", signal)).rejects.toMatchObject({
        code: "SKILL_NOT_READY",
        message: expect.stringMatching(/^Nobody has stored the files of sha256:0/) as string,
      });
    });

    test("are not stored under a digest that their directory does not have", async () => {
      const directory = writeSkill("changing");
      const digest = await digestOfDirectory(directory);
      writeFileSync(path.join(directory, "SKILL.md"), "other");
      const packs = openedIn(database);
      await expect(packs.store({ directory, name: "changing" }, digest, signal)).rejects.toThrow(
        "The skill changing just changed on disk.",
      );
      await expect(packs.ensure(digest, "changing", signal)).rejects.toMatchObject({ code: "SKILL_NOT_READY" });
    });

    test("are downloaded again where their directory was changed", async () => {
      const directory = writeSkill("damaged", { "a.txt": "a" });
      const digest = await digestOfDirectory(directory);
      const dataDirectory = newDirectory();
      const packs = openedIn(database, dataDirectory);
      await packs.store({ directory, name: "damaged" }, digest, signal);
      const place = await packs.ensure(digest, "damaged", signal);
      writeFileSync(path.join(place, "b.txt"), "more");
      expect(await openedIn(database, dataDirectory).ensure(digest, "damaged", signal)).toBe(place);
      expect(await digestOfDirectory(place)).toBe(digest);
    });

    test.each(["../pdf", "", "a/b", "."])("are not written to a place that the name %j leads to", async (slug) => {
      await expect(openedIn(database).ensure(`sha256:${"0".repeat(64)}`, slug, signal)).rejects.toThrow(
        /is no name of a skill/,
      );
    });

    describe("that somebody else wrote", () => {
      /** A row as the database lets anybody write it, under the digest that its own list has. */
      async function hostile(
        list: readonly (readonly [string, number, string])[] | string,
        parts: readonly Uint8Array[] = [],
        digest = typeof list === "string"
          ? `sha256:${sha256(list)}`
          : digestOf(list.map(([path, size_bytes, sha256]) => ({ path, size_bytes, sha256 }))),
      ): Promise<string> {
        const key = Buffer.from(digest.slice(7), "hex");
        await database.query("delete from acp_skills.skill_packs where digest = $1", [key]);
        await database.query("insert into acp_skills.skill_packs (digest, files, size) values ($1, $2, 0)", [
          key,
          typeof list === "string" ? list : JSON.stringify(list),
        ]);
        for (const [part, bytes] of parts.entries())
          await database.query("insert into acp_skills.skill_parts values ($1, $2, $3)", [key, part, bytes]);
        return digest;
      }
      const text = Buffer.from("text");
      const good = sha256(text);

      test.each([
        ["a path with ..", [["../escaped", 4, good]], /"\.\.\/escaped" has a segment \.\./],
        ["an absolute path", [["/etc/passwd", 4, good]], /"\/etc\/passwd" is absolute/],
        ["a backslash", [["a\\b", 4, good]], /contains a backslash/],
        ["a drive letter", [["C:/x", 4, good]], /starts with a drive letter/],
        ["a directory of git", [[".git/config", 4, good]], /leads into a directory of git/],
        ["a hidden file", [[".hidden", 4, good]], /is no file of a skill/],
        ["a signature among the files", [["skill.sigstore.json", 4, good]], /is no file of a skill/],
        ["a line end in a path", [["a\nb", 4, good]], /contains a control character/],
        [
          "a path twice",
          [
            ["a", 4, good],
            ["a", 4, good],
          ],
          /"a" is out of order/,
        ],
        [
          "another order",
          [
            ["b", 4, good],
            ["a", 4, good],
          ],
          /"a" is out of order/,
        ],
        [
          "a file that is a directory",
          [
            ["a", 4, good],
            ["a/b", 4, good],
          ],
          /has a file that cannot be stored: "a\/b"/,
        ],
        ["too many bytes", [["a", 51 * 1024 * 1024, good]], /more than 50 MiB/],
        ["a negative size", [["a", -1, good]], /its list names no file/],
        ["no digest of a file", [["a", 4, "x"]], /its list names no file/],
        ["bytes of another digest", [["a", 4, sha256("other")]], /are not those of sha256:/],
        ["bytes that end too early", [["a", 5, good]], /there are 4 bytes of files, not 5/],
        ["bytes after the last file", [["a", 3, sha256("tex")]], /there are 4 bytes of files, not 3/],
        [
          "too many files",
          Array.from({ length: 1_001 }, (_, index) => [String(10_000 + index), 0, sha256("")]),
          /more than 1000 files/,
        ],
        ["no JSON", "{", /is no JSON/],
        ["an object", "{}", /its list of files is none/],
        ["a list of nothing", "[null]", /its list names no file/],
      ] as [string, Parameters<typeof hostile>[0], RegExp][])("is refused: %s", async (_name, list, message) => {
        const digest = await hostile(list, [
          JSON.stringify(list).includes('"a/b"') ? Buffer.concat([text, text]) : text,
        ]);
        const dataDirectory = newDirectory();
        const packs = openedIn(database, dataDirectory);
        await expect(packs.ensure(digest, "pdf", signal)).rejects.toMatchObject({
          code: "SOURCE_INVALID",
          message: expect.stringMatching(message) as string,
        });
        expect(existsSync(path.join(dataDirectory, "cluster", "store", digest.slice(7), "pdf"))).toBe(false);
        expect(existsSync(path.join(dataDirectory, "escaped"))).toBe(false);
      });

      test("is refused under a digest of other files", async () => {
        const digest = await hostile([["a", 4, good]], [text], `sha256:${"1".repeat(64)}`);
        await expect(openedIn(database).ensure(digest, "pdf", signal)).rejects.toThrow(/those of another digest/);
      });
    });

    test("expire when nobody used them for 30 days, and stay as long as they are published or used", async () => {
      const clock = manualClock();
      const packs = openSkillPacks(database, { dataDirectory: newDirectory(), clock, log: silentLog });
      const [digests, directories]: [string[], string[]] = [[], []];
      for (const name of ["unused", "published", "used"]) {
        const directory = writeSkill(name);
        directories.push(directory);
        digests.push(await digestOfDirectory(directory));
        await packs.store({ directory, name }, digests.at(-1) ?? "", signal);
      }
      const keys = digests.map((digest) => Buffer.from(digest.slice(7), "hex"));
      await database.query("update acp_skills.skill_packs set used_at = now() - interval '31 days'");
      await database.query(
        `insert into acp_skills.catalog (slug, version, name, digest, revision, published_by)
         values ('published', '1.0.0', 'published', $1, -1, 'test')`,
        [keys[1]],
      );
      await openedIn(database).store({ directory: directories[2] ?? "", name: "used" }, digests[2] ?? "", signal);
      clock.pass(2 * 60 * 60 * 1_000);
      const left = async () =>
        (await database.query<{ digest: Uint8Array }>("select digest from acp_skills.skill_packs"))
          .map(({ digest }) => Buffer.from(digest).toString("hex"))
          .toSorted();
      await expect.poll(left).toEqual(
        keys
          .slice(1)
          .map((key) => key.toString("hex"))
          .toSorted(),
      );
      await packs.close();
    });
  });
}

packContract("PGlite", async () => {
  const database = await openPglite();
  return { database, close: async () => await database.close() };
});

describe.skipIf(postgresFault())("with a server", () => {
  let server: PostgresServer;
  const opened: Database[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    for (const database of opened) await database.close();
    server.stop();
  });
  async function openNew(url: string): Promise<Database> {
    const database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
    opened.push(database);
    return database;
  }

  packContract("PostgreSQL", async () => {
    const database = await openNew(await server.newDatabase());
    return { database, close: async () => await database.close() };
  });

  test("the same pack is stored once by several members at a time", async () => {
    const url = await server.newDatabase();
    const members = await Promise.all(Array.from({ length: 4 }, async () => openedIn(await openNew(url))));
    const directory = writeSkill("shared", { "data.bin": new Uint8Array(3 * 1024 * 1024).fill(7) });
    const digest = await digestOfDirectory(directory);
    await Promise.all(members.map((packs) => packs.store({ directory, name: "shared" }, digest, signal)));
    const places = await Promise.all(members.map((packs) => packs.ensure(digest, "shared", signal)));
    for (const place of places) expect(await digestOfDirectory(place)).toBe(digest);
  });

  test("what is here works without the database, and what is not is an outage", async () => {
    const database = await openNew(await server.newDatabase());
    const dataDirectory = newDirectory();
    const directory = writeSkill("here");
    const digest = await digestOfDirectory(directory);
    const packs = openedIn(database, dataDirectory);
    await packs.store({ directory, name: "here" }, digest, signal);
    const place = await packs.ensure(digest, "here", signal);
    const nowhere = await openNew("postgres://127.0.0.1:1/x");
    const alone = openedIn(nowhere, dataDirectory);
    expect(await alone.ensure(digest, "here", signal)).toBe(place);
    await expect(alone.ensure(`sha256:${"2".repeat(64)}`, "here", signal)).rejects.toSatisfy(isOutage);
    await expect(alone.store({ directory, name: "here" }, digest, signal)).rejects.toSatisfy(isOutage);
  });
});

describe("copies on this machine", () => {
  test("are removed when nobody has used them for a day", async () => {
    const database = await openPglite();
    const dataDirectory = newDirectory();
    const clock = manualClock();
    const now = Date.now();
    const packs = openSkillPacks(database, { dataDirectory, clock, log: silentLog, now: () => now });
    const places: string[] = [];
    for (const name of ["unused", "kept", "used", "new"]) {
      const directory = writeSkill(name);
      const digest = await digestOfDirectory(directory);
      await packs.store({ directory, name }, digest, signal);
      places.push(await packs.ensure(digest, name, signal));
      const used = new Date(now - 25 * 60 * 60 * 1_000);
      if (name !== "new") utimesSync(path.dirname(places.at(-1) ?? ""), used, used);
      if (name === "used") await packs.ensure(digest, name, signal);
    }
    packs.keep(places[1] ?? "");
    clock.pass(2 * 60 * 60 * 1_000);
    await expect.poll(() => places.map((place) => existsSync(place))).toEqual([false, true, true, true]);
    await expect.poll(() => readdirSync(path.join(dataDirectory, "cluster", "trash"))).toEqual([]);
    await packs.close();
    await database.close();
  });
});
