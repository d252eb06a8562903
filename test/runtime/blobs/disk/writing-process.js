/**
 * Puts, holds, reads, removes and sweeps until it is killed, or as many times as its second argument. Prints each confirmed put and
 * removal as a JSON line. Throws if the content of one of its blobs has changed.
 */
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { diskBlobs } from "../../../../.build/runtime/blobs/disk-blobs.js";

const [directory = "", times = "Infinity"] = process.argv.slice(2);
const store = diskBlobs(directory);
/** @param {unknown} event */
const say = (event) => writeSync(1, `${JSON.stringify(event)}\n`);
/** @type {{id: string, sha256: string}[]} */
const mine = [];

for (let n = 0; n < Number(times); n += 1) {
  const length = (n * 7919) % 100_000;
  // Every other content is the same in all processes.
  const letter = n % 2 === 0 ? "s" : String(process.pid);
  const blob = await store.put("me", "text/plain", pieces(Buffer.alloc(length, letter)));
  say({ kept: blob.id });
  mine.push(blob);
  const release = await store.hold("me", blob.id);
  if (n % 5 === 4) await store.sweep();
  if (n % 3 === 2) {
    const { id, sha256 } = /** @type {{id: string, sha256: string}} */ (mine.shift());
    const hash = createHash("sha256");
    for await (const chunk of store.read("me", id)) hash.update(chunk);
    if (hash.digest("hex") !== sha256) throw new Error(`${id} has changed`);
    say({ removing: id });
    await store.remove("me", id);
    say({ removed: id });
  }
  await release();
}
await store.close();

/** @param {Buffer} bytes */
async function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += 10_000) {
    yield await Promise.resolve(bytes.subarray(at, at + 10_000));
  }
}
