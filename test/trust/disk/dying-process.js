/**
 * Grants, copies, revokes and replaces a damaged file, and kills itself at its n-th change of the file system; a write is then truncated.
 * Prints each request and each confirmed change as a JSON line. Arguments: the directory of approvals, n. Exits with 0 if there is no n-th
 * change.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [directory = "", last = ""] = process.argv.slice(2);
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
  writeFile: ([text], fd) => writeNow(fd, String(text).slice(0, 99)),
  sync: untorn,
});
await probe.close();
instrument(fs, {
  writeSync: ([fd, text]) => writeNow(Number(fd), String(text).slice(0, 9)),
  openSync: untorn,
  renameSync: untorn,
  rmSync: untorn,
  mkdirSync: untorn,
});
instrument(fs.promises, { open: untorn, rename: untorn, link: untorn });
syncBuiltinESMExports();

const { diskApprovals } = await import("../../../dist/trust/disk/disk-approvals.js");
const { grantOf } = await import("./grants.js");
const store = diskApprovals(directory, { log: untorn });
const project = { project: "/project" };

/** @param {unknown} event */
const say = (event) => writeNow(1, `${JSON.stringify(event)}\n`);

await store.change(project, (before) => ({ ...before, grants: [...before.grants, grantOf(1), grantOf(2)] }));
say({ granted: 1 });
say({ granted: 2 });
await store.keepCopy(grantOf(2).digest, [{ path: "SKILL.md", sha256: "0".repeat(64) }]);
say({ revoking: 2 });
await store.change(project, (before) => ({
  ...before,
  grants: before.grants.filter(({ id }) => id !== grantOf(2).id),
}));
say({ revoked: 2 });
// The test damaged this file.
await store.change("everywhere", (before) => ({ ...before, grants: [...before.grants, grantOf(4)] }));
say({ granted: 4 });
