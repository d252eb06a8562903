/**
 * Looks at a source twice, of which the second lists a new version of one skill, and no longer the other one; then sweeps. It
 * kills itself at its n-th change of the file system; a write is then truncated. Prints what it has finished. Arguments: the data
 * directory, n. Exits with 0 if there is no n-th change.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [dataDirectory = "", last = ""] = process.argv.slice(2);
const writeNow = fs.writeSync;
let operations = 0;

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
      const changes = !name.startsWith("open") || args[1] === "wx";
      if (changes) operations += 1;
      if (changes && operations === Number(last)) {
        tear(args, /** @type {{fd?: number}} */ (this)?.fd ?? -1);
        process.kill(process.pid, "SIGKILL");
      }
      return original.apply(this, args);
    };
  }
}

const untorn = () => undefined;
const probe = await fs.promises.open(process.execPath);
instrument(Object.getPrototypeOf(probe), {
  writeFile: ([content], fd) => writeNow(fd, String(content).slice(0, 9)),
  sync: untorn,
});
await probe.close();
instrument(fs, {
  writeSync: ([fd, text]) => writeNow(Number(fd), String(text).slice(0, 9)),
  openSync: untorn,
  renameSync: untorn,
  rmSync: untorn,
  mkdirSync: untorn,
  symlinkSync: untorn,
  utimesSync: untorn,
});
instrument(fs.promises, { open: untorn, rename: untorn, mkdir: untorn, rm: untorn });
syncBuiltinESMExports();

const { openSources } = await import("../../../dist/open-sources.js");
const { systemClock } = await import("../../../dist/base/clock.js");
const { openVersions } = await import("./versions.js");
const source = openVersions();
const dayMs = 86_400_000;
let now = Date.now();
const copies = openSources(
  {
    dataDirectory,
    sources: ["https://skills.example/acme"],
    allowPrivate: [],
    clock: systemClock,
    log: (_level, message) => void process.stderr.write(`${message}\n`),
  },
  { openReader: source.openReader, now: () => now },
);
const { signal } = new AbortController();
await copies.refresh(signal);
writeNow(1, "first\n");
source.publish("second");
// The sweep that follows takes what the first look left.
now += 2 * dayMs;
await copies.refresh(signal);
writeNow(1, "second\n");
await copies.close();
