import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Approvals } from "../../src/runtime/trust/approvals.ts";
import { describeApprovalStore } from "../contract/approval-store.ts";
import { adding, blockOf, grantOf, removing } from "../runtime/trust/approvals/grant-of.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { blockKey, openClusterApprovals } from "../../src/cluster/approvals.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";

const tables = ["approval_scopes", "grants", "blocks", "approved_copies"]
  .map((name) => `acp_skills.${name}`)
  .join(", ");

/** A store that is empty before its first call. */
function emptied(open: () => Database) {
  const database = open();
  const store = openClusterApprovals(database, { log: silentLog });
  const empty = database.query(`truncate ${tables}`);
  const after =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await empty;
      return await call(...given);
    };
  return {
    store: {
      read: after(store.read.bind(store)),
      change: after(store.change.bind(store)),
      scopes: after(store.scopes.bind(store)),
      readCopy: after(store.readCopy.bind(store)),
      keepCopy: after(store.keepCopy.bind(store)),
    },
  };
}

describe("in PGlite", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  }, 60_000);
  afterAll(() => database.close());
  describeApprovalStore("openClusterApprovals", () => emptied(() => database));
});

describe.skipIf(postgresFault())("in PostgreSQL", () => {
  let server: PostgresServer;
  let database: Database;
  const opened: Database[] = [];
  const open = async (url: string): Promise<Database> => {
    const one = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
    opened.push(one);
    return one;
  };
  beforeAll(async () => {
    server = await startPostgres();
    database = await open(await server.newDatabase());
  }, 60_000);
  afterAll(async () => {
    for (const one of opened) await one.close();
    server.stop();
  });
  describeApprovalStore("openClusterApprovals", () => emptied(() => database));

  describe("a claim", () => {
    const project = { project: "/home/ada/project" };
    const { id } = grantOf(1);
    const key = blockKey(project, "acme.skill1", "own");
    const lock = "select pg_advisory_xact_lock_shared(hashtextextended(session_user::text, 38))";
    const claim = `insert into claims select where exists (
         select from acp_skills.grants g where g.person = session_user::text and g.id = $1
           and (g.expires_at is null or g.expires_at > now()))
       and not exists (select from acp_skills.blocks b where b.person = session_user::text and b.block_key = $2)
       returning 1 as one`;
    const claimed = async (url: Database): Promise<number> =>
      await url.transaction(async (queries) => {
        await queries.query(lock);
        return (await queries.query(claim, [id, key])).length;
      });
    const waiting = async (): Promise<number> =>
      (await database.query("select from pg_locks where not granted and locktype in ('advisory', 'transactionid')"))
        .length;
    const newStore = async () => {
      const url = await server.newDatabase();
      const one = await open(url);
      await one.query("create table claims ()");
      const store = openClusterApprovals(one, { log: silentLog });
      await store.change(project, adding(grantOf(1)));
      return { url, one, store };
    };

    test.each([
      ["a revocation", removing(1)],
      ["a block", (before: Approvals) => ({ ...before, blocks: [blockOf(1)] })],
    ])("that was begun first is finished before %s is answered", async (_, change) => {
      const { url, one, store } = await newStore();
      const other = await open(url);
      let finish = (): void => undefined;
      const held = new Promise<void>((resolve) => (finish = resolve));
      const claiming = other.transaction(async (queries) => {
        await queries.query(lock);
        const rows = await queries.query(claim, [id, key]);
        await held;
        return rows.length;
      });
      await expect
        .poll(async () => (await one.query("select from pg_locks where locktype = 'advisory'")).length)
        .toBe(1);
      let isAnswered = false;
      const changing = store.change(project, change).then(() => (isAnswered = true));
      await expect.poll(waiting).toBe(1);
      expect(isAnswered).toBe(false);
      finish();
      expect(await claiming).toBe(1);
      await changing;
      expect(await claimed(other)).toBe(0);
    });

    test.each([
      ["a revocation", removing(1)],
      ["a block", (before: Approvals) => ({ ...before, blocks: [blockOf(1)] })],
    ])("that waited for %s finds what it changed", async (_, change) => {
      const { url, one, store } = await newStore();
      const other = await open(url);
      // Holds the row of the scope, so that the change has its lock and is not committed.
      let finish = (): void => undefined;
      const held = new Promise<void>((resolve) => (finish = resolve));
      const holding = other.transaction(async (queries) => {
        await queries.query("select from acp_skills.approval_scopes for update");
        await held;
      });
      await expect
        .poll(
          async () =>
            (
              await one.query(
                "select from pg_locks where relation = 'acp_skills.approval_scopes'::regclass and mode = 'RowShareLock'",
              )
            ).length,
        )
        .toBe(1);
      const changing = store.change(project, change);
      await expect.poll(waiting).toBe(1);
      const claiming = claimed(other);
      await expect.poll(waiting).toBe(2);
      finish();
      await Promise.all([holding, changing]);
      expect(await claiming).toBe(0);
    });

    test("with one statement that takes the grant's row for share finds that it was removed meanwhile", async () => {
      const { url, one, store } = await newStore();
      expect((await store.read(project)).grants).toEqual([grantOf(1)]);
      const other = await open(url);
      let finish = (): void => undefined;
      const held = new Promise<void>((resolve) => (finish = resolve));
      const removingRow = one.transaction(async (queries) => {
        await queries.query("delete from acp_skills.grants where id = $1", [id]);
        await held;
      });
      await expect
        .poll(
          async () =>
            (
              await one.query(
                "select from pg_locks where mode = 'RowExclusiveLock' and relation = 'acp_skills.grants'::regclass",
              )
            ).length,
        )
        .toBe(1);
      const claiming = other.query(
        `with g as materialized (select 1 from acp_skills.grants where person = session_user::text and id = $1 for share)
         insert into claims select where exists (select from g) returning 1 as one`,
        [id],
      );
      await expect.poll(waiting).toBe(1);
      finish();
      await removingRow;
      expect(await claiming).toEqual([]);
      expect((await store.read(project)).grants).toEqual([]);
    });

    test("never succeeds after a revocation has answered, whatever else is going on", async () => {
      const { url, store } = await newStore();
      const workers = await Promise.all(Array.from({ length: 4 }, () => open(url)));
      for (let round = 0; round < 15; round++) {
        let isRevoked = false;
        let early = 0;
        const work = workers.map(async (worker) => {
          let late = 0;
          for (let after = 0; after < 5;) {
            const isLate = isRevoked;
            const rows = await claimed(worker);
            if (isLate) late += rows;
            else early += rows;
            if (isLate) after++;
          }
          return late;
        });
        await expect.poll(() => early, { interval: 1 }).toBeGreaterThan(3);
        await store.change(project, round % 2 === 0 ? removing(1) : (before) => ({ ...before, blocks: [blockOf(1)] }));
        isRevoked = true;
        expect(await Promise.all(work)).toEqual([0, 0, 0, 0]);
        await store.change(project, (before) => ({ ...before, grants: [grantOf(1)], blocks: [] }));
      }
    }, 60_000);
  });

  test("rows that a change does not concern are not written again", async () => {
    const one = await open(await server.newDatabase());
    const store = openClusterApprovals(one, { log: silentLog });
    await store.change("everywhere", adding(grantOf(1), grantOf(2), grantOf(3)));
    const rows = async () => await one.query("select id, xmin::text from acp_skills.grants order by position");
    const [, ...before] = await rows();
    await store.change("everywhere", removing(1));
    await store.change("everywhere", adding(grantOf(4)));
    expect((await rows()).slice(0, 2)).toEqual(before);
    await store.change("everywhere", ({ grants, ...rest }) => ({ ...rest, grants: grants.toReversed() }));
    expect((await store.read("everywhere")).grants).toEqual([grantOf(4), grantOf(3), grantOf(2)]);
  });

  test("a person sees and changes only what is theirs", async () => {
    const url = await server.newDatabase();
    const one = await open(url);
    await one.query("create role ada login");
    for (const statement of [
      "grant usage on schema acp_skills to ada",
      "grant select, insert, update, delete on all tables in schema acp_skills to ada",
    ])
      await one.query(statement);
    const ofAda = await open(url.replace("//acp@", "//ada@"));
    const [store, stored] = [
      openClusterApprovals(one, { log: silentLog }),
      openClusterApprovals(ofAda, { log: silentLog }),
    ];
    await store.change("everywhere", adding(grantOf(1)));
    expect(await stored.scopes()).toEqual([]);
    await stored.change("everywhere", adding(grantOf(2)));
    expect((await stored.read("everywhere")).grants).toEqual([grantOf(2)]);
    expect((await store.read("everywhere")).grants).toEqual([grantOf(1)]);
    expect(await ofAda.query("select id from acp_skills.grants")).toEqual([{ id: grantOf(2).id }]);
    await expect(ofAda.query("update acp_skills.grants set person = 'acp'")).rejects.toThrow(/row-level security/);
  });

  test("of two servers, each sees at once what the other has changed", async () => {
    const url = await server.newDatabase();
    const [one, other] = [await open(url), await open(url)].map((each) =>
      openClusterApprovals(each, { log: silentLog }),
    );
    for (let number = 0; number < 20; number++) {
      await one?.change("everywhere", adding(grantOf(number)));
      expect((await other?.read("everywhere"))?.grants).toHaveLength(number + 1);
      expect((await other?.read("everywhere"))?.grants).toHaveLength(number + 1);
    }
  });

  test("approvals of another version are not replaced, and grant nothing", async () => {
    const one = await open(await server.newDatabase());
    const messages: string[] = [];
    const store = openClusterApprovals(one, { log: (_, message) => messages.push(message) });
    await store.change("everywhere", adding(grantOf(1)));
    await one.query(
      `update acp_skills.approval_scopes set revision = gen_random_uuid(), head = '{"format":"acp-skills approvals 2"}'`,
    );
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect(messages).toEqual([expect.stringMatching(/of another version of acp-skills/)]);
    await expect(store.change("everywhere", removing(1))).rejects.toMatchObject({ code: "UNREADABLE" });
    expect(await one.query("select id from acp_skills.grants")).toHaveLength(1);
  });

  test("in an outage nothing is granted, what was blocked remains so, and that is logged once", async () => {
    const gone = await startPostgres();
    const messages: string[] = [];
    const one = await open(await gone.newDatabase());
    const store = openClusterApprovals(one, { log: (_, message) => messages.push(message) });
    await store.change("everywhere", (before) => ({ ...before, grants: [grantOf(1)], blocks: [blockOf(2)] }));
    await store.read("everywhere");
    gone.kill();
    await expect.poll(async () => (await store.read("everywhere")).grants).toEqual([]);
    expect((await store.read("everywhere")).blocks).toEqual([blockOf(2)]);
    await expect(store.change("everywhere", removing(1))).rejects.toMatchObject({ code: "UNREADABLE" });
    await expect(store.scopes()).rejects.toMatchObject({ code: "UNREADABLE" });
    expect(await store.readCopy(grantOf(1).digest)).toBeUndefined();
    expect(messages.filter((message) => message.includes("nothing is granted"))).toHaveLength(1);
    await gone.start();
    expect((await store.read("everywhere")).grants).toEqual([grantOf(1)]);
    expect(messages.at(-1)).toBe("Approvals of the cluster can be read again.");
    gone.stop();
  }, 60_000);
});
