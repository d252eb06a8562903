import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import type { ProcessIdentity } from "../../../src/base/processes/live-process.ts";
import { ownerFile, sweepLeftovers } from "../../../src/sandbox/directory/host-directory.ts";
import { removeTree } from "../../../src/sandbox/directory/private-directory.ts";

describe.skipIf(process.platform !== "linux")("sweepLeftovers", () => {
  let directory = "";
  const told: string[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "sweep-"));
    told.length = 0;
  });
  afterEach(() => removeTree(directory));

  const own = identifyProcess();
  const dead: ProcessIdentity = { ...own, pid: 2 ** 22 + 1 };
  const leave = (name: string, owner?: ProcessIdentity): void => {
    mkdirSync(join(directory, name, "s1/skills"), { recursive: true });
    if (owner !== undefined) writeFileSync(join(directory, name, ownerFile), JSON.stringify(owner));
  };
  const sweep = (): Promise<void> => sweepLeftovers((_level, message) => told.push(message), directory);

  test("removes and logs directories of dead processes", async () => {
    leave("acp-skills-run-dead", dead);
    leave("acp-skills-run-reused", { ...own, started: "1" });
    leave("acp-skills-run-probe-dead", dead);
    await sweep();
    expect(readdirSync(directory)).toEqual([]);
    expect(told).toHaveLength(3);
  });

  test("removes old directories without an owner, or whose process was killed while it wrote one", async () => {
    leave("acp-skills-run-forgotten");
    leave("acp-skills-run-torn", own);
    leave("acp-skills-run-new");
    for (const name of ["torn", "new"])
      writeFileSync(join(directory, `acp-skills-run-${name}`, ownerFile), JSON.stringify(own).slice(0, 9));
    for (const name of ["forgotten", "torn"]) utimesSync(join(directory, `acp-skills-run-${name}`), 0, 0);
    await sweep();
    expect(readdirSync(directory)).toEqual(["acp-skills-run-new"]);
  });

  test("removes each directory once when several sweeps run concurrently", async () => {
    for (const name of ["a", "b", "c"]) leave(`acp-skills-run-${name}`, dead);
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(readdirSync(directory)).toEqual([]);
    expect(told.filter((message) => !message.startsWith("Removed"))).toEqual([]);
    expect(told).toHaveLength(3);
  });

  test("keeps directories of live processes, of other PID namespaces and of other programs", async () => {
    leave("acp-skills-run-alive", own);
    leave("acp-skills-run-container", { ...dead, space: "another boot pid:[1]" });
    leave("acp-skills-run-unknown", { ...dead, space: "" });
    leave("acp-skills-run-being-made");
    leave("other", dead);
    writeFileSync(join(directory, "acp-skills-run-file"), "");
    symlinkSync(join(directory, "other"), join(directory, "acp-skills-run-link"));
    const before = readdirSync(directory);
    await sweep();
    expect(readdirSync(directory)).toEqual(before);
    expect(told).toEqual([]);
  });

  test("ignores a missing directory", async () => {
    await sweepLeftovers((_level, message) => told.push(message), join(directory, "absent"));
    expect(told).toEqual([]);
  });
});
