/**
 * Looks at a source twice, of which the second lists a new version of one skill, and no longer the other one; then sweeps. It
 * dies at its n-th change of the file system. Prints what it has finished. Arguments: the data directory, n.
 */
import { dieAtChange, print } from "../../base/processes/die-at-change.js";

const [dataDirectory = "", last = ""] = process.argv.slice(2);
await dieAtChange(Number(last));

const { openCopies } = await import("./open-copies.js");
const { openVersions } = await import("./versions.js");
const source = openVersions();
const dayMs = 86_400_000;
let now = Date.now();
const copies = openCopies(dataDirectory, { openReader: source.openReader, now: () => now });
const { signal } = new AbortController();
await copies.refresh(signal);
print("first");
source.publish("second");
// The sweep that follows takes what the first look left.
now += 2 * dayMs;
await copies.refresh(signal);
print("second");
await copies.close();
