import { afterAll, beforeAll, describe } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../../src/cluster/database.ts";
import { joinCluster } from "../../../src/cluster/members.ts";
import { ClusterRunRecords } from "../../../src/cluster/runs/run-records.ts";
import { type RunStoreUnderTest, describeRunStore } from "../../contract/run-store.ts";
import { openPglite } from "../pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "../postgres.ts";

type Options = Parameters<Parameters<typeof describeRunStore>[1]>[0];

async function openEmpty(database: Database, options: Options): Promise<RunStoreUnderTest> {
  await database.query("delete from acp_skills.runs");
  const facts = { kind: "server", version: "1", clock: systemClock, log: silentLog } as const;
  const member = await joinCluster(database, facts);
  const store = new ClusterRunRecords({ database, member: member.id, log: silentLog, ...options });
  return { store, close: () => member.leave() };
}

describe("on PGlite", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  });
  afterAll(async () => await database.close());
  describeRunStore("the run records of a cluster", async (options) => await openEmpty(database, options));
});

describe.skipIf(postgresFault())("on a server", () => {
  let server: PostgresServer;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    const url = parseClusterUrl(await server.newDatabase());
    database = await openDatabase(url, { log: silentLog, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    await database.close();
    server.stop();
  });
  describeRunStore("the run records of a cluster", async (options) => await openEmpty(database, options));
});
