/**
 * Uses a disk that becomes full, then read-only, then writable again. Prints the results as JSON. Argument: the mount point of a private
 * file system of some hundred kilobytes that this process may remount.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { diskBlobs } from "../../../../.build/runtime/blobs/disk-blobs.js";
import { diskLedger } from "../../../../.build/runtime/ledger/disk-ledger.js";

const [disk = ""] = process.argv.slice(2);
const cli = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
const store = diskBlobs(path.join(disk, "blobs"));
/** @type {string[]} */
const logged = [];
const ledger = diskLedger(path.join(disk, "ledger"), { log: (_level, message) => void logged.push(message) });
/** @type {Record<string, unknown>} */
const told = {};

/** @param {() => Promise<unknown>} work */
async function outcome(work) {
  try {
    await work();
    return "done";
  } catch (error) {
    const { code, message, facts } = /** @type {import("../../../../.build/base/errors.js").SkillsError} */ (error);
    return { code, message, limit: facts.limit, hint: facts.hint };
  }
}
const put = () => store.put("me", "text/plain", Buffer.alloc(2_000, "x"));
/** @param {string[]} args */
const blobs = (...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "blobs", ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: disk, ACP_SKILLS_HOME: disk },
  });
  return { status, stdout: stdout.replaceAll(/blob:[0-9a-f]{32}/g, "ID"), stderr };
};
const fill = () => {
  try {
    for (;;) appendFileSync(path.join(disk, "junk"), Buffer.alloc(1024));
  } catch {
    return; // The disk is full.
  }
};

const [one, two] = [await put(), await put()];
ledger.record({ at: 1, tool: "before", door: "cli" });
fill();
told.putWhenFull = await outcome(put);
for (let at = 0; at < 200; at++) ledger.record({ at, tool: "full", door: "cli" });
told.loggedWhenFull = [...logged];
told.listWhenFull = blobs("list").stdout.trimEnd().split("\n").length;
told.showWhenFull = blobs("read", one.id).stdout.length;
told.sweepWhenFull = blobs("sweep");
told.removeWhenFull = blobs("rm", one.id);
rmSync(path.join(disk, "junk"));
told.putWhenThereIsRoom = await outcome(put);
ledger.record({ at: 3, tool: "after", door: "cli" });
// A file open for writing would prevent the read-only remount.
ledger.close();
logged.length = 0;
const next = diskLedger(path.join(disk, "ledger"), { log: (_level, message) => void logged.push(message) });

execFileSync("mount", ["-o", "remount,ro", disk]);
told.putWhenReadOnly = await outcome(put);
told.statWhenReadOnly = await outcome(() => store.stat("me", two.id));
told.showWhenReadOnly = blobs("read", two.id).stdout.length;
told.removeWhenReadOnly = blobs("rm", two.id);
told.sweepWhenReadOnly = blobs("sweep");
next.record({ at: 4, tool: "read-only", door: "cli" });
told.loggedWhenReadOnly = logged;
execFileSync("mount", ["-o", "remount,rw", disk]);
told.putWhenWritable = await outcome(put);
next.record({ at: 5, tool: "writable", door: "cli" });

told.uses = [];
for await (const { tool } of next.read()) if (tool !== "full") /** @type {string[]} */ (told.uses).push(tool);
next.close();
await store.close();
console.log(JSON.stringify(told));
