import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ownedName } from "../../../../src/base/processes/live-process.ts";
import { sweepLeftovers } from "../../../../src/runtime/sandbox/directory/host-directory.ts";
import { removeTree } from "../../../../src/runtime/sandbox/directory/private-directory.ts";

describe.skipIf(process.platform !== "linux")("sweepLeftovers", () => {
  let directory = "";
  const told: string[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "sweep-"));
    told.length = 0;
  });
  afterEach(() => removeTree(directory));

  const own = ownedName();
  const dead = own.replace(/^\d+/, String(2 ** 22 + 1));
  const leave = (name: string): void => {
    mkdirSync(join(directory, name, "s1/skills"), { recursive: true });
  };
  const sweep = (): Promise<void> => sweepLeftovers((_level, message) => told.push(message), directory);

  test("removes and logs directories of dead processes", async () => {
    leave(`acp-skills-run-${dead}`);
    leave(`acp-skills-run-${own.replace(/-\d+-/, "-1-")}`);
    await sweep();
    expect(readdirSync(directory)).toEqual([]);
    expect(told).toHaveLength(2);
  });

  test("removes each directory once when several sweeps run concurrently", async () => {
    for (const end of ["a", "b", "c"]) leave(`acp-skills-run-${dead.slice(0, -1)}${end}`);
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(readdirSync(directory)).toEqual([]);
    expect(told.filter((message) => !message.startsWith("Removed"))).toEqual([]);
    expect(told).toHaveLength(3);
  });

  test("keeps directories of live processes, of other PID namespaces and of other programs", async () => {
    const elsewhere = dead.replace(/-[0-9a-f]{8}-/, "-00000000-");
    for (const name of [own, elsewhere, "x"]) leave(`acp-skills-run-${name}`);
    utimesSync(join(directory, `acp-skills-run-${elsewhere}`), 0, 0);
    leave("other");
    writeFileSync(join(directory, `acp-skills-run-${dead}`), "");
    symlinkSync(
      join(directory, "other"),
      join(directory, `acp-skills-run-${dead.slice(0, -1)}${dead.endsWith("a") ? "b" : "a"}`),
    );
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
