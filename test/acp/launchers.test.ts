import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ListedProcess, createProcessTree, descendants } from "../../src/base/processes/process-tree.ts";
import { wrapAgentCommand } from "../../src/acp/wrap-command.ts";
import { systemClock } from "../../src/base/clock.ts";
import { manualClock } from "../manual-clock.ts";
import { binary } from "../cli/run-cli.ts";

const onPosix = process.platform !== "win32";
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-launch-"));
  // Prints its process id, then reads no input and ignores SIGTERM and SIGINT.
  writeFileSync(
    join(root, "agent.cjs"),
    'process.on("SIGTERM", () => {}); process.on("SIGINT", () => {}); console.log(JSON.stringify({ pid: process.pid })); setInterval(() => {}, 1e6);',
  );
  const launch = 'process.execPath, [__dirname + "/agent.cjs"], { stdio: "inherit" }';
  writeFileSync(join(root, "waiting.cjs"), `require("node:child_process").spawnSync(${launch});`);
  writeFileSync(
    join(root, "apart.cjs"),
    `require("node:child_process").spawn(${launch.replace(" }", ", detached: true }")}); setInterval(() => {}, 1e6);`,
  );
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** A zombie can still be signalled, and the init process of a container may never reap it: checks the process state too. */
function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${id}/stat`, "latin1"));
  } catch {
    return false;
  }
}

const node = process.execPath;
const launchers = [
  ["that blocks in spawnSync", () => [node, join(root, "waiting.cjs")]],
  ["written in shell", () => ["sh", "-c", `"${node}" "${join(root, "agent.cjs")}"; true`]],
  ["that starts it detached", () => [node, join(root, "apart.cjs")]],
] as const;

// At the same time: they mostly wait.
describe.runIf(onPosix).concurrent.each(launchers)("an agent started by a launcher %s", (_what, launcher) => {
  test("is terminated after the editor leaves even if it ignores signals", async ({ expect }) => {
    const [command = "", ...args] = launcher();
    const [input, output] = [new PassThrough(), new PassThrough()];
    // Times of 5 s and more pass only when the test says so.
    const clock = manualClock();
    const impatient = {
      ...clock,
      after: (ms: number, then: () => void) => (ms < 5_000 ? systemClock : clock).after(ms, then),
    };
    const options = { skills: [root], defaultRoots: false, log: () => undefined };
    const ended = wrapAgentCommand({ command, args, input, output, options }, { clock: impatient });
    const [line] = (await once(output, "data")) as [Buffer];
    const { pid } = JSON.parse(String(line)) as { pid: number };
    input.end();
    while (clock.pending === 0) await new Promise(setImmediate);
    clock.pass(5_000);
    // SIGTERM ends the launcher; the remaining processes do not get it a second time.
    await ended;
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test.for(["SIGTERM", "SIGHUP"] as const)("is terminated when the wrapper gets %s", async (signal, { expect }) => {
    const wrapper = spawn(node, [binary, "--no-default-roots", "--", ...launcher()], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: root },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const [line] = (await once(wrapper.stdout, "data")) as [Buffer];
    const { pid } = JSON.parse(String(line)) as { pid: number };
    wrapper.kill(signal);
    await once(wrapper, "exit");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe("the descendants of a process", () => {
  const process_ = (id: number, parent: number, started = `at ${id}`): ListedProcess => ({ id, parent, started });

  test("include grandchildren and orphans", () => {
    const before = [process_(10, 1), process_(11, 10), process_(12, 11), process_(20, 1)];
    const known = descendants(10, [], before);
    expect(known.map(({ id }) => id)).toEqual([11, 12]);
    const after = [process_(12, 1), process_(13, 12), process_(20, 1)];
    expect(descendants(10, known, after).map(({ id }) => id)).toEqual([12, 13]);
  });

  test("exclude a process that reuses the id of an ended descendant", () => {
    const known = [process_(12, 11)];
    expect(descendants(10, known, [process_(12, 1, "later"), process_(13, 12)])).toEqual([]);
  });

  test("get SIGTERM, then SIGKILL after a grace period or on request", async () => {
    for (const isHurried of [false, true]) {
      const told: string[] = [];
      const list = () => Promise.resolve([process_(10, 1), process_(11, 10)]);
      const tree = createProcessTree(10, list, (id, signal) => void told.push(`${signal} ${id}`));
      await tree.update();
      const clock = manualClock();
      let hurry = (): void => undefined;
      const ending = tree.endRest(clock, new Promise((resolve) => (hurry = resolve)));
      while (clock.pending === 0) await new Promise(setImmediate);
      expect(told).toEqual(["SIGTERM 11"]);
      if (isHurried) hurry();
      else
        for (let looks = 0; looks < 40; looks++) {
          clock.pass(50);
          await new Promise(setImmediate);
        }
      await ending;
      expect(told).toEqual(["SIGTERM 11", "SIGKILL 11"]);
    }
  });

  test("are retained when processes cannot be listed", async () => {
    const told: string[] = [];
    const lists = [Promise.resolve([process_(10, 1), process_(11, 10)]), Promise.reject(new Error("EMFILE"))];
    const tree = createProcessTree(
      10,
      () => lists.shift() ?? Promise.resolve([]),
      (id) => void told.push(String(id)),
    );
    await tree.update();
    await tree.update();
    tree.signalBelow("SIGTERM");
    expect(told).toEqual(["11"]);
  });
});
