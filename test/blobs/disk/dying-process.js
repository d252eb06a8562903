/**
 * Stores, holds and removes blobs and kills itself at its n-th change of the file system; a write is then truncated. Prints each
 * confirmed put and removal as a JSON line. Arguments: the store directory, n. Exits with 0 if there is no n-th change.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [directory = "", last = ""] = process.argv.slice(2);
const writeNow = fs.writeSync;
let operations = 0;

/** @param {() => void} tear */
function step(tear) {
  operations += 1;
  if (operations !== Number(last)) return;
  tear();
  process.kill(process.pid, "SIGKILL");
}

/** @typedef {(this: unknown, ...args: unknown[]) => unknown} Verb */

/**
 * @param {unknown} owner
 * @param {Record<string, (args: unknown[], fd: number) => void>} verbs what each leaves behind when interrupted
 */
function instrument(owner, verbs) {
  const target = /** @type {Record<string, Verb>} */ (owner);
  for (const [name, tear] of Object.entries(verbs)) {
    const original = /** @type {Verb} */ (target[name]);
    target[name] = function (...args) {
      if (!changesNothing(name, args)) step(() => tear(args, /** @type {{fd?: number}} */ (this)?.fd ?? -1));
      return original.apply(this, args);
    };
  }
}

/** @param {string} name @param {unknown[]} args */
function changesNothing(name, [file, flags]) {
  if (name === "openSync") return (Number(flags) & fs.constants.O_CREAT) === 0;
  return name === "rmSync" && !fs.existsSync(String(file));
}

const untorn = () => undefined;
const writeFile = fs.writeFileSync;
const probe = await fs.promises.open(process.execPath);
instrument(Object.getPrototypeOf(probe), {
  write: ([bytes, from, length], fd) => writeNow(fd, /** @type {Buffer} */ (bytes), Number(from), Number(length) >> 1),
  writeFile: ([text], fd) => writeNow(fd, String(text).slice(0, 9)),
  sync: untorn,
});
await probe.close();
instrument(fs, {
  writeFileSync: ([file, text]) => writeFile(String(file), String(text).slice(0, 1)),
  openSync: untorn,
  renameSync: untorn,
  linkSync: untorn,
  rmSync: untorn,
  mkdirSync: untorn,
});
instrument(fs.promises, { open: untorn, rm: untorn });
syncBuiltinESMExports();

const { diskBlobs } = await import("../../../dist/blobs/disk/disk-blobs.js");
/** @param {unknown} event */
const say = (event) => writeNow(1, `${JSON.stringify(event)}\n`);
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
