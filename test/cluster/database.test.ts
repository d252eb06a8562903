import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { type Database, migrate, openDatabase, parseClusterUrl, schemaFault } from "../../src/cluster/database.ts";
import { knownMigrations } from "../../src/cluster/database/migrate.ts";
import { isOutage } from "../../src/cluster/database/database-error.ts";
import { openListener } from "../../src/cluster/database/listener.ts";
import { manualClock } from "../manual-clock.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";

describe("the URL of a cluster", () => {
  test("names host, port, user and database, and no password in its label", () => {
    const url = parseClusterUrl("postgres://acp:s%20cret@db.example.com:5433/skills");
    expect(url).toMatchObject({
      host: "db.example.com",
      port: 5433,
      user: "acp",
      password: "s cret",
      database: "skills",
    });
    expect(url.label).toBe("postgres://acp@db.example.com:5433/skills");
  });

  test("means verified TLS to other machines, and none on this one", () => {
    expect(parseClusterUrl("postgres://db.example.com/x").ssl).toEqual({ rejectUnauthorized: true });
    expect(parseClusterUrl("postgres://127.0.0.1/x").ssl).toBe(false);
    expect(parseClusterUrl("postgres:///x?host=/var/run/postgresql").ssl).toBe(false);
    expect(parseClusterUrl("postgres://db.example.com/x?sslmode=disable").ssl).toBe(false);
  });

  test.each([
    ["mysql://h/x", /needs the URL of a PostgreSQL database/],
    ["nonsense", /needs the URL of a PostgreSQL database/],
    ["postgres://h/x?sslmode=require", /sslmode=require does not verify who answers/],
    ["postgres://h/x?sslmod=disable", /sslmod is unknown/],
    ["postgres:///x", /names no host/],
    ["postgres://h/x?sslrootcert=/nowhere/ca.pem", /sslrootcert: \/nowhere\/ca\.pem cannot be read/],
  ])("is refused: %s", (text, message) => {
    expect(() => parseClusterUrl(text)).toThrow(message);
  });

  test("is refused without repeating what may be a password", () => {
    expect(() => parseClusterUrl("postgres//acp:hunter2@h/x")).toThrow(expect.not.stringContaining("hunter2") as never);
  });
});

describe("migrations", () => {
  test("are numbered without gaps, and each names the oldest schema that can go on", () => {
    const migrations = knownMigrations();
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
    for (const { number, oldest } of migrations) expect(oldest).toBeLessThanOrEqual(number);
  });

  test("are applied once, all or none, and a newer database is refused by an older program", async () => {
    const database = await openPglite();
    expect(await migrate(database)).toEqual([]);
    expect(await schemaFault(database)).toBeUndefined();
    const own = knownMigrations();
    const number = own.length + 1;
    const next = { number, name: "next", oldest: own.length, sql: "create table acp_skills.next (a integer);" };
    await expect(migrate(database, [...own, { ...next, sql: `${next.sql}\nnonsense;` }])).rejects.toThrow(/nonsense/);
    expect(await schemaFault(database, [...own, next])).toMatch(/acp-skills cluster migrate changes it/);
    expect(await migrate(database, [...own, next])).toEqual([`${number} next`]);
    // It goes on: the step takes nothing away that the version before uses.
    expect(await schemaFault(database, own)).toBeUndefined();
    await migrate(database, [...own, next, { ...next, number: number + 1, oldest: number + 1, sql: "select 1;" }]);
    expect(await schemaFault(database, own)).toMatch(/update acp-skills here/);
    await expect(migrate(database, own)).rejects.toThrow(/update acp-skills here/);
    await database.close();
  });

  test("are asked for where there are none", async () => {
    const database = await openPglite();
    await database.query("drop schema acp_skills cascade");
    expect(await schemaFault(database)).toMatch(/acp-skills cluster migrate creates them/);
    await database.close();
  });
});

describe.skipIf(postgresFault())("a database of a server", () => {
  let url: string;
  let server: PostgresServer;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.newDatabase();
    database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    await database.close();
    server.stop();
  });

  test("undoes a transaction that fails", async () => {
    await database.query("create table t (a integer)");
    const work = database.transaction(async (queries) => {
      await queries.query("insert into t values (1)");
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await database.query("select * from t")).toEqual([]);
  });

  test("passes messages on, and says when they arrive again after the server was killed", async () => {
    const messages: string[] = [];
    let connected = 0;
    const stop = database.listen(
      "acp_skills_queues",
      (payload) => messages.push(payload),
      () => connected++,
    );
    await expect.poll(() => connected).toBe(1);
    await database.query("select pg_notify('acp_skills_queues', 'one')");
    await expect.poll(() => messages).toEqual(["one"]);
    server.kill();
    await expect(database.query("select pg_sleep(20)")).rejects.toSatisfy(isOutage);
    await server.start();
    await expect.poll(() => connected, { timeout: 15_000 }).toBe(2);
    await database.query("select pg_notify('acp_skills_queues', 'two')");
    await expect.poll(() => messages).toEqual(["one", "two"]);
    stop();
  }, 60_000);

  test.each([
    ["says once that no message arrives, as behind a pooler in transaction mode", true],
    ["says nothing where they do", false],
  ])("%s", async (_what, isDeaf) => {
    const [clock, logged] = [manualClock(), [] as string[]];
    const log = (_level: string, message: string): void => void logged.push(message);
    let heard = 0;
    const connect = (): Client => {
      const client = new Client(url);
      const pass = client.emit.bind(client);
      client.emit = (event: string, ...given: unknown[]) => {
        if (event === "notification") heard++;
        return isDeaf && event === "notification" ? false : pass(event, ...given);
      };
      return client;
    };
    let connected = 0;
    const listener = openListener(connect, { log, clock, notify: (...given) => database.notify(...given) });
    listener.listen("acp_skills_queues", () => undefined, () => connected++); // prettier-ignore
    await expect.poll(() => [connected, heard]).toEqual([1, 1]);
    clock.pass(5_000);
    expect(logged).toEqual(isDeaf ? [expect.stringMatching(/is there a pooler in transaction mode/)] : []);
    listener.close();
  });

  test("returns the rows of each of several statements", async () => {
    expect(await database.query("select 1 as a; begin; select 2 as a; commit")).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("tells an outage from a wrong statement", async () => {
    await expect(database.query("nonsense")).rejects.toSatisfy((error) => !isOutage(error));
    const nowhere = await openDatabase(parseClusterUrl("postgres://127.0.0.1:1/x"), {
      log: silentLog,
      clock: systemClock,
    });
    await expect(nowhere.query("select 1")).rejects.toSatisfy(isOutage);
    await nowhere.close();
  });
});
