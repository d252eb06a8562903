import { execFile } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runProgram, spawnProcess } from "../../../src/base/processes/spawn-process.ts";

const dist = fileURLToPath(new URL("../../../.build/base/processes/spawn-process.js", import.meta.url));

test("spawns an existing program and rejects for a missing program or an invalid argument", async () => {
  const child = await spawnProcess(process.execPath, ["-e", "process.exit(3)"], { stdio: "ignore" });
  expect(await once(child, "exit")).toEqual([3, null]);
  await expect(spawnProcess("/nowhere/at/all", [], {})).rejects.toMatchObject({ code: "ENOENT" });
  await expect(spawnProcess(process.execPath, ["a\0b"], {})).rejects.toThrow();
});

test("runProgram returns stdout and rejects with the exit code", async () => {
  expect(await runProgram(process.execPath, ["-p", "1 + 1"])).toBe("2\n");
  await expect(runProgram(process.execPath, ["-e", "process.exit(3)"])).rejects.toMatchObject({ code: 3 });
  await expect(runProgram("/nowhere/at/all", [])).rejects.toMatchObject({ code: "ENOENT" });
});

test.skipIf(process.platform === "win32")(
  "rejects with RUNTIME_BUSY when no file descriptors are left, and works again afterwards",
  async () => {
    const script = `
    import { openSync, closeSync } from "node:fs";
    import { runProgram, spawnProcess } from ${JSON.stringify(dist)};
    const held = [];
    try { for (;;) held.push(openSync("/dev/null")); } catch {}
    const tell = (error) => console.log(error.name, error.code, error.message);
    await spawnProcess(process.execPath, ["-v"], { stdio: ["pipe", "pipe", "pipe", "pipe"] }).catch(tell);
    await runProgram(process.execPath, ["-v"]).catch(tell);
    for (const descriptor of held) closeSync(descriptor);
    console.log(await runProgram(process.execPath, ["-p", "'again'"]));`;
    const { stdout } = await promisify(execFile)("sh", [
      ...["-c", 'ulimit -n 60 && exec "$0" --input-type=module -e "$1"'],
      ...[process.execPath, script],
    ]);
    const refused = `SkillsError RUNTIME_BUSY "${process.execPath}" cannot be started: this process has no file descriptors left (EMFILE).`;
    expect(stdout.trim().split("\n")).toEqual([refused, refused, "again"]);
  },
);
