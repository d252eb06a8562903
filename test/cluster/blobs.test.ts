import { afterAll, beforeAll, describe } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { openClusterBlobs } from "../../src/cluster/blobs.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { describeBlobStore } from "../contract/blob-store.ts";
import { emptied } from "./blobs/emptied-database.ts";
import { openPglite } from "./pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "./postgres.ts";

describe("in PGlite", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  }, 60_000);
  afterAll(async () => await database.close());

  describeBlobStore("clusterBlobs", (options) => openClusterBlobs(emptied(database), options));
});

describe.skipIf(postgresFault())("in PostgreSQL", () => {
  let server: PostgresServer;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    database = await openDatabase(parseClusterUrl(await server.newDatabase()), { log: silentLog, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    await database.close();
    server.stop();
  });

  describeBlobStore("clusterBlobs", (options) => openClusterBlobs(emptied(database), options));
});
