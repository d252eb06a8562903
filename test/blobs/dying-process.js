/**
 * Lives the life of a blob and kills itself at its n-th change of the file system; a write is then cut in half. What it was told is
 * kept or removed it prints, a JSON line each. Arguments: the store's directory, n. Ends with 0 when there is no n-th change.
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

/** @param {any} target @param {string[]} names */
function instrument(target, names) {
  for (const name of names) {
    const original = target[name];
    target[name] = function (/** @type {any[]} */ ...args) {
      const onlyReads = name === "openSync" && (args[1] & fs.constants.O_CREAT) === 0;
      if (onlyReads || (name === "rmSync" && !fs.existsSync(args[0]))) return original.apply(this, args);
      step(() => {
        if (name === "writeFileSync") original.call(this, args[0], String(args[1]).slice(0, 1), args[2]);
        if (name === "write") writeNow(this.fd, args[0], args[1], Math.floor(args[2] / 2));
        if (name === "writeFile") writeNow(this.fd, String(args[0]).slice(0, 9));
      });
      return original.apply(this, args);
    };
  }
}

const probe = await fs.promises.open(process.execPath);
instrument(Object.getPrototypeOf(probe), ["write", "writeFile", "sync"]);
await probe.close();
instrument(fs, [
  "openSync",
  "closeSync",
  "renameSync",
  "linkSync",
  "rmSync",
  "mkdirSync",
  "writeFileSync",
  "utimesSync",
]);
instrument(fs.promises, ["open", "rm"]);
syncBuiltinESMExports();

const { diskBlobs } = await import("../../dist/blobs/disk-blobs.js");
/** @param {unknown} event */
const say = (event) => writeNow(1, `${JSON.stringify(event)}\n`);
const store = diskBlobs(directory, { ttlMs: 1000 });

await store.sweep(); // The expired ones that were there before.
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
  yield Buffer.from("one ");
  yield Buffer.from("two");
}
