// Puts blobs, and removes some, until it is killed; arguments: the URL of a database, and `stream` or `buffer`. Prints each id that it was given.
import { createHash, randomBytes, randomInt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../../.build/base/clock.js";
import { silentLog } from "../../../.build/base/log.js";
import { openClusterBlobs } from "../../../.build/cluster/blobs.js";
import { openDatabase, parseClusterUrl } from "../../../.build/cluster/database.js";

const [url = "", mode] = process.argv.slice(2);
const database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
const blobs = openClusterBlobs(database, { ownerQuotaBytes: 2 ** 40, quotaBytes: 2 ** 40 });
const sizes = [0, 100, 1024 * 1024, 3 * 1024 * 1024 + 17];

await Promise.all([putAgain(), putAgain(), putAgain()]);

async function putAgain() {
  for (;;) {
    // Few, so that processes put the same bytes at the same time.
    const seed = randomInt(16);
    const content = Buffer.alloc(sizes[seed % 4] ?? 0, createHash("sha256").update(String(seed)).digest());
    const { id, sha256 } = await blobs.put("me", "a/b", mode === "stream" ? inPieces(content) : content);
    process.stdout.write(`put ${id} ${sha256}\n`);
    if (randomBytes(1).readUInt8() % 2 === 0) continue;
    process.stdout.write(`removing ${id}\n`);
    await blobs.remove("me", id);
  }
}

/** @param {Buffer} bytes */
async function* inPieces(bytes) {
  for (let at = 0; at < bytes.length; at += 100_000) {
    await setImmediate();
    yield bytes.subarray(at, at + 100_000);
  }
}
