import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeLedger, readAll, use } from "../contract/ledger.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { insertLedgerRow, openClusterLedger } from "../../src/cluster/ledger.ts";
import { LedgerQueue } from "../../src/cluster/ledger/ledger-queue.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const january = Date.UTC(2026, 0, 2);
const quiet = { log: silentLog, clock: systemClock };

/**
 * A ledger that is empty before its first call. Nobody else can empty it without the owner's leave. With `maxKept`, ten rows are written
 * every ten days, and kept for so many days.
 */
function emptied(database: Database, options?: { readonly maxKept: number }) {
  const empty = database.transaction(async (queries) => {
    await queries.query("set local session_replication_role = 'replica'");
    await queries.query("delete from acp_skills.ledger");
  });
  let at = january;
  const inTime: Database["query"] = async (text, values = []) => {
    const time = () => `to_timestamp(${at / 1_000})`;
    const lines = text.includes("write_ledger(") ? (values[0] as string[]) : [];
    for (; lines.length > 10; at += 10 * dayMs)
      await database.query(`select acp_skills.write_ledger_at(${time()}, $1, null, null)`, [lines.splice(0, 10)]);
    const later = text.replace("write_ledger(", `write_ledger_at(${time()}, `).replaceAll("now()", time);
    return await database.query(later, values);
  };
  const waiting: Database = {
    ...database,
    query: async (text, values) => {
      await empty;
      return options === undefined ? await database.query(text, values) : await inTime(text, values);
    },
  };
  const ledger = openClusterLedger(waiting, { ...quiet, ...(options && { days: options.maxKept }) });
  return { ledger, close: () => undefined };
}

describe("in PGlite", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  }, 60_000);
  afterAll(() => database.close());
  describeLedger("of openClusterLedger", (options) => emptied(database, options));
});

describe.skipIf(postgresFault())("in PostgreSQL", () => {
  let server: PostgresServer;
  let database: Database;
  const opened: Database[] = [];
  const open = async (url: string): Promise<Database> => {
    const one = await openDatabase(parseClusterUrl(url), quiet);
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
  describeLedger("of openClusterLedger", (options) => emptied(database, options));

  test("rows can be changed and removed by nobody, whatever the partition is called", async () => {
    const one = await open(await server.newDatabase());
    const ledger = openClusterLedger(one, quiet);
    ledger.record(use(1));
    expect(await ledger.flush()).toBeUndefined();
    const [partition] = await one.query<{ name: string }>(
      "select tableoid::regclass::text as name from acp_skills.ledger",
    );
    for (const place of ["acp_skills.ledger", partition?.name ?? ""])
      for (const statement of [`update ${place} set entry = ''`, `delete from ${place}`, `truncate ${place}`])
        await expect(one.query(statement)).rejects.toThrow(/cannot be changed or removed/);
    expect(await readAll(ledger)).toEqual([use(1)]);
  });

  test("months are dropped by the owner only, and a row says so", async () => {
    const url = await server.newDatabase();
    const one = await open(url);
    await one.query("create role eve login");
    await one.query("grant usage on schema acp_skills to eve");
    const write = (at: number, number: number) =>
      one.query("select acp_skills.write_ledger_at(to_timestamp($1::float8 / 1000), $2::text[], null, null)", [
        at,
        [JSON.stringify({ at: new Date(at).toISOString(), tool: `tool-${number}`, door: "mcp" })],
      ]);
    for (const month of [0, 1, 2]) await write(Date.UTC(2026, month, 28, 23, 59), month);
    const ofEve = await open(url.replace("//acp@", "//eve@"));
    await expect(ofEve.query("select acp_skills.drop_ledger('2026-03-01Z')")).rejects.toThrow(/permission denied/);
    await expect(ofEve.query("select acp_skills.write_ledger_at(now(), array['{}'], null, null)")).rejects.toThrow(
      /permission denied/,
    );
    const mine = openClusterLedger(ofEve, { ...quiet, days: 99_999 });
    mine.record(use(9));
    expect(await mine.flush()).toBeUndefined();
    expect(await one.query("select person from acp_skills.ledger where entry like '%tool-9%'")).toEqual([
      { person: "eve" },
    ]);
    expect(await one.query("select acp_skills.drop_ledger('2026-03-01Z') as rows")).toEqual([{ rows: 2 }]);
    const entries = await readAll(openClusterLedger(one, quiet));
    expect(entries.map(({ event, tool, about, count }) => [event ?? tool, about, count])).toEqual([
      ["tool-2", undefined, undefined],
      ["tool-9", undefined, undefined],
      ["dropped", "rows of 2026-01 to 2026-02", 2],
    ]);
  });

  test("many that write first in a month make its partition once", async () => {
    const url = await server.newDatabase();
    const others = await Promise.all(Array.from({ length: 8 }, () => open(url)));
    for (let month = 0; month < 3; month++)
      await Promise.all(
        others.map((one, index) =>
          one.query("select acp_skills.write_ledger_at(to_timestamp($1::float8 / 1000), $2::text[], null, null)", [
            Date.UTC(2027, month, 15),
            [`{"n":${index}}`],
          ]),
        ),
      );
    expect(await others[0]?.query("select count(*)::float8 as rows from acp_skills.ledger")).toEqual([{ rows: 24 }]);
    expect(
      await others[0]?.query(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'acp_skills.ledger'::regclass order by 1",
      ),
    ).toEqual(["01", "02", "03", "04"].map((month) => ({ name: `acp_skills.ledger_2027_${month}` })));
  });

  test("an entry of a transaction is there exactly if the transaction is", async () => {
    const one = await open(await server.newDatabase());
    await expect(
      one.transaction(async (queries) => {
        await insertLedgerRow(queries, use(1));
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await one.transaction((queries) => insertLedgerRow(queries, use(2)));
    expect(await readAll(openClusterLedger(one, quiet))).toEqual([use(2)]);
  });

  test("what was recorded in an outage is written after it, once and in order, and flush says why it is not yet", async () => {
    const gone = await startPostgres();
    const messages: string[] = [];
    const one = await open(await gone.newDatabase());
    const ledger = openClusterLedger(one, { clock: systemClock, log: (_, message) => messages.push(message) });
    ledger.record(use(0));
    expect(await ledger.flush()).toBeUndefined();
    gone.kill();
    for (let number = 1; number < 1_000; number++) expect(ledger.record(use(number))).toBeUndefined();
    await expect.poll(() => ledger.flush()).toBeTypeOf("string");
    await gone.start();
    await expect.poll(() => ledger.flush(), { timeout: 10_000 }).toBeUndefined();
    expect(await readAll(ledger)).toEqual(Array.from({ length: 1_000 }, (_, number) => use(number)));
    expect(messages.filter((message) => message.startsWith("The ledger of the cluster"))).toEqual([
      expect.stringMatching(/cannot be written, so that its rows wait here/),
      "The ledger of the cluster can be written again.",
    ]);
    ledger.close();
    gone.stop();
  }, 60_000);

  test("a batch that is sent again is not written twice", async () => {
    const one = await open(await server.newDatabase());
    const twice: Database = {
      ...one,
      query: async (text, values) => {
        await one.query(text, values);
        return await one.query(text, values);
      },
    };
    const ledger = openClusterLedger(twice, quiet);
    for (let number = 0; number < 1_200; number++) ledger.record(use(number));
    expect(await ledger.flush()).toBeUndefined();
    expect(await readAll(openClusterLedger(one, quiet))).toHaveLength(1_200);
  });
});

describe("a queue of rows", () => {
  const clock = { now: () => 0, after: () => () => undefined };

  test("writes one batch at a time, in order", async () => {
    const written: string[][] = [];
    let running = 0;
    const queue = new LedgerQueue({
      clock,
      onFault: () => undefined,
      async write(lines) {
        expect(++running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        written.push([...lines]);
        running--;
      },
    });
    for (let number = 0; number < 1_100; number++) queue.add(String(number));
    expect(await queue.flush()).toBeUndefined();
    expect(written.map(({ length }) => length)).toEqual([500, 500, 100]);
    expect(written.flat()).toEqual(Array.from({ length: 1_100 }, (_, number) => String(number)));
  });

  test("refuses what is too much, and says why the rest waits", async () => {
    const queue = new LedgerQueue({ clock, onFault: () => undefined, write: () => Promise.reject(new Error("gone")) });
    expect(queue.add("first")).toBeUndefined();
    expect(await queue.flush()).toBe("gone");
    let refusal: string | undefined;
    for (let number = 0; refusal === undefined && number < 30_000; number++) refusal = queue.add("line");
    expect(refusal).toBe("20000 rows wait for the database of the cluster: gone");
  });

  test("bounds what waits by its length, too", () => {
    const queue = new LedgerQueue({ clock, onFault: () => undefined, write: () => new Promise(() => undefined) });
    const line = "x".repeat(1024 * 1024);
    for (let number = 0; number < 16; number++) expect(queue.add(line)).toBeUndefined();
    expect(queue.add(line)).toMatch(/16 rows wait/);
  });
});
