import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { descendants, openProcessTree } from "../../src/acp/process/process-tree.ts";
import type { ListedProcess } from "../../src/acp/process/process-tree.ts";
import { wrapCommand } from "../../src/acp/process/wrap-command.ts";
import { systemClock } from "../../src/base/clock.ts";
import { manualClock } from "../manual-clock.ts";
import { binary } from "../cli/run-cli.ts";

const onPosix = process.platform !== "win32";
let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-launch-"));
  // Says who it is, then neither reads its input nor minds being told to go.
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
afterEach(() => {
  rmSync(root, { recursive: true });
});

/** The dead whom nobody has waited for yet can be signalled still; the first process of a container may never wait. */
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
  ["that waits for it in spawnSync", () => [node, join(root, "waiting.cjs")]],
  ["of a shell", () => ["sh", "-c", `"${node}" "${join(root, "agent.cjs")}"; true`]],
  ["that gave it a session of its own", () => [node, join(root, "apart.cjs")]],
] as const;

describe.runIf(onPosix).each(launchers)("an agent behind a launcher %s", (_what, launcher) => {
  test("ends with the editor, whatever it ignores", async () => {
    const [command = "", ...args] = launcher();
    const [input, output] = [new PassThrough(), new PassThrough()];
    // Of the longer times, none passes by itself.
    const clock = manualClock();
    const impatient = {
      ...clock,
      after: (ms: number, then: () => void) => (ms < 5_000 ? systemClock : clock).after(ms, then),
    };
    const options = { skills: [root], defaultRoots: false, log: () => undefined };
    const ended = wrapCommand({ command, args, input, output, options }, { clock: impatient });
    const [line] = (await once(output, "data")) as [Buffer];
    const { pid } = JSON.parse(String(line)) as { pid: number };
    input.end();
    while (clock.pending === 0) await new Promise(setImmediate);
    clock.pass(5_000);
    // SIGTERM ends the launcher, and what it leaves is not told twice.
    await ended;
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("ends when the wrapper is ended by %s", async (signal) => {
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

describe("the processes below one", () => {
  const process_ = (id: number, parent: number, started = `at ${id}`): ListedProcess => ({ id, parent, started });

  test("are those of its children too, and those whose parents have ended", () => {
    const before = [process_(10, 1), process_(11, 10), process_(12, 11), process_(20, 1)];
    const known = descendants(10, [], before);
    expect(known.map(({ id }) => id)).toEqual([11, 12]);
    const after = [process_(12, 1), process_(13, 12), process_(20, 1)];
    expect(descendants(10, known, after).map(({ id }) => id)).toEqual([12, 13]);
  });

  test("are not those who have the number of one that ended", () => {
    const known = [process_(12, 11)];
    expect(descendants(10, known, [process_(12, 1, "later"), process_(13, 12)])).toEqual([]);
  });

  test("are told to go, and made to when they do not in time, or when there is none", async () => {
    for (const isHurried of [false, true]) {
      const told: string[] = [];
      const list = () => Promise.resolve([process_(10, 1), process_(11, 10)]);
      const tree = openProcessTree(10, list, (id, signal) => void told.push(`${signal} ${id}`));
      await tree.look();
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

  test("stay known where nobody can be listed", async () => {
    const told: string[] = [];
    const lists = [Promise.resolve([process_(10, 1), process_(11, 10)]), Promise.reject(new Error("EMFILE"))];
    const tree = openProcessTree(
      10,
      () => lists.shift() ?? Promise.resolve([]),
      (id) => void told.push(String(id)),
    );
    await tree.look();
    await tree.look();
    tree.signalBelow("SIGTERM");
    expect(told).toEqual(["11"]);
  });
});
