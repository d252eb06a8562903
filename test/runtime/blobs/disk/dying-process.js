/**
 * Stores, holds and removes blobs and dies at its n-th change of the file system. Prints each confirmed put and removal as a JSON
 * line. Arguments: the store directory, n.
 */
import { dieAtChange, print } from "../../../base/processes/die-at-change.js";

const [directory = "", last = ""] = process.argv.slice(2);
await dieAtChange(Number(last));

const { diskBlobs } = await import("../../../../.build/runtime/blobs/disk-blobs.js");
/** @param {unknown} event */
const say = (event) => print(JSON.stringify(event));
const store = diskBlobs(directory, { ttlMs: 1000 });

await store.sweep(); // Removes the expired blobs of the test.
const kept = await store.put("me", "text/plain", Buffer.from("shared"));
say({ kept: kept.id });
const removed = await store.put("me", "text/plain", pieces());
say({ kept: removed.id });
const release = await store.hold("me", kept.id);
say({ removing: removed.id });
await store.remove("me", removed.id);
say({ removed: removed.id });
await release();
await store.close();

async function* pieces() {
  yield await Promise.resolve(Buffer.from("one "));
  yield Buffer.from("two");
}
