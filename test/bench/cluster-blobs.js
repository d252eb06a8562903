import { randomBytes } from "node:crypto";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { systemClock } from "../../.build/base/clock.js";
import { openClusterBlobs } from "../../.build/cluster/blobs.js";
import { openDatabase, parseClusterUrl } from "../../.build/cluster/database.js";
import { alternate, summarise, summariseRatio } from "./measure.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const megabyte = 1024 * 1024;
const chunks = 10;
const rounds = 41;
const manyPuts = 500;

/**
 * Measures blobs in the database of a cluster beside `COPY` of the same bytes, in chunks of the same size, into and from a plain table. Needs
 * PostgreSQL here, and a Node that loads TypeScript.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureClusterBlobs({ say }) {
  const { postgresFault, startPostgres } = await import("../cluster/postgres.ts");
  const fault = postgresFault();
  if (fault !== undefined) {
    say(`cluster-blobs is not measured: ${fault}`);
    return [];
  }
  const server = await startPostgres();
  const url = await server.newDatabase();
  const database = await openDatabase(parseClusterUrl(url), { log: () => undefined, clock: systemClock });
  const blobs = openClusterBlobs(database, { ownerQuotaBytes: 2 ** 40, quotaBytes: 2 ** 40 });
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.query("create table plain (id integer, number integer, bytes bytea, primary key (id, number))");
    await client.query("alter table plain alter column bytes set storage external");
    const bytes = randomBytes(chunks * megabyte);
    let last = 0;
    let id = "";
    const puts = await alternate(
      {
        ours: timed(async () => {
          bytes.writeInt32BE(++last);
          ({ id } = await blobs.put("me", "application/octet-stream", bytes));
        }),
        floor: timed(() => pipeline(binaryRows(++last, bytes), client.query(copyFrom("copy plain from stdin binary")))),
      },
      rounds,
    );
    const gets = await alternate(
      {
        ours: timed(() => readAll(blobs.read("me", id))),
        floor: timed(() =>
          readAll(client.query(copyTo(`copy (select bytes from plain where id = ${last}) to stdout binary`))),
        ),
      },
      rounds,
    );
    const small = await alternate(
      {
        put: timed(() => blobs.put("me", "text/plain", randomBytes(100))),
        range: timed(() => readAll(blobs.read("me", id, { offset: 5 * megabyte, length: 1000 }))),
      },
      rounds,
    );
    const many = await timed(() =>
      Promise.all(Array.from({ length: manyPuts }, () => blobs.put("me", "text/plain", randomBytes(100)))),
    )();
    const [putRatio, getRatio] = [summariseRatio(puts.ours, puts.floor), summariseRatio(gets.ours, gets.floor)];
    return [
      {
        what: "put of 10 MiB into the database of a cluster",
        unit: "ms",
        ours: summarise(puts.ours),
        floor: { is: "COPY of the same bytes into a plain table", value: summarise(puts.floor) },
        ratio: putRatio,
        target: "≤ 2 × floor",
        holds: putRatio.median <= 2,
      },
      {
        what: "get of 10 MiB from there, verified",
        unit: "ms",
        ours: summarise(gets.ours),
        floor: { is: "COPY of the same bytes from a plain table", value: summarise(gets.floor) },
        ratio: getRatio,
        target: "≤ 2 × floor",
        holds: getRatio.median <= 2,
      },
      { what: "put of 100 bytes there", unit: "ms", ours: summarise(small.put) },
      { what: "get of 1,000 bytes in the middle of 10 MiB there", unit: "ms", ours: summarise(small.range) },
      { what: `puts of 100 bytes there, ${manyPuts} at once`, unit: "/s", ours: summarise([manyPuts / (many / 1000)]) },
    ];
  } finally {
    await blobs.close();
    await client.end();
    await database.close();
    server.stop();
  }
}

/** @param {() => Promise<unknown>} work */
function timed(work) {
  return async () => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
}

/** @param {AsyncIterable<Uint8Array>} pieces */
async function readAll(pieces) {
  let length = 0;
  for await (const piece of pieces) length += piece.length;
  return length;
}

/**
 * The rows of a binary COPY.
 * @param {number} id
 * @param {Buffer} bytes
 */
function* binaryRows(id, bytes) {
  yield Buffer.concat([Buffer.from("PGCOPY\n\xFF\r\n\0", "latin1"), Buffer.alloc(8)]);
  for (let number = 0; number < chunks; number++) {
    const head = Buffer.alloc(22);
    head.writeInt16BE(3, 0);
    [4, id, 4, number, megabyte].forEach((value, index) => head.writeInt32BE(value, 2 + 4 * index));
    yield head;
    yield bytes.subarray(number * megabyte, (number + 1) * megabyte);
  }
  yield Buffer.from([0xff, 0xff]);
}
