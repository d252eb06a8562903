import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import { type Turn, TurnLock, foreignTo } from "../../../src/base/processes/turn-lock.ts";

let directory = "";
let waited = 0;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-lock-"));
  waited = 0;
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const at = (name: string): string => path.join(directory, name);
const pause = (ms: number): Promise<void> => {
  waited += ms;
  return new Promise((resolve) => setImmediate(resolve));
};
const newLock = (): TurnLock => new TurnLock(directory, { pause });
/** Whose waiting gives the others time to finish. */
const newPatientLock = (): TurnLock => new TurnLock(directory, { pause: (ms) => setTimeout(ms) });
const ticketOf = (holder: unknown): string => `${JSON.stringify(holder)}\n`;
const target = (): string => at("target");
const append =
  (text: string) =>
  async (turn: Turn): Promise<void> => {
    const before = readdirSync(directory).includes("target") ? readFileSync(target(), "utf8") : "";
    await turn.write(target(), before + text);
  };

async function exitedProcess(): Promise<unknown> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const identity = identifyProcess(child.pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  return identity;
}

describe("TurnLock", () => {
  test("runs the work of one process at a time, in order, without waiting for nobody", async () => {
    const lock = newLock();
    await Promise.all(["a", "b", "c"].map((text) => lock.exclusive(append(text))));
    expect(readFileSync(target(), "utf8")).toBe("abc");
    expect(waited).toBe(0);
  });

  test("never runs the work of two at once", async () => {
    let inside = 0;
    const work = async (turn: Turn): Promise<void> => {
      inside += 1;
      expect(inside).toBe(1);
      await append("x")(turn);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => newPatientLock().exclusive(work)));
    expect(readFileSync(target(), "utf8")).toBe("x".repeat(20));
  });

  test("passes the error of the work on, and the turn to the next", async () => {
    const lock = newLock();
    const error = new Error("No.");
    await expect(lock.exclusive(() => Promise.reject(error))).rejects.toBe(error);
    await newLock().exclusive(append("a"));
    expect(readFileSync(target(), "utf8")).toBe("a");
    expect(waited).toBe(0);
  });

  test("takes the turn of a process that exited at once, for one of those who want it", async () => {
    writeFileSync(at("7"), ticketOf(await exitedProcess()));
    await newLock().exclusive(append("a"));
    expect(waited).toBe(0);
    writeFileSync(at("9"), ticketOf(await exitedProcess()));
    await Promise.all(["b", "b", "b", "b"].map((text) => newPatientLock().exclusive(append(text))));
    expect(readFileSync(target(), "utf8")).toBe("abbbb");
  });

  test.each([
    ["runs but does nothing", ticketOf(identifyProcess())],
    ["is in another container", ticketOf({ ...identifyProcess(), space: "elsewhere" })],
    ["was killed while it took its turn", ""],
    ["wrote something else", '{"pid":-1}\n'],
    ["wrote no object", "null\n"],
  ])("takes the turn of a process after five seconds that %s", async (_how, ticket) => {
    writeFileSync(at("1"), ticket);
    await newLock().exclusive(append("a"));
    expect(readFileSync(target(), "utf8")).toBe("a");
    expect(waited).toBeGreaterThanOrEqual(5_000);
    expect(waited).toBeLessThan(6_000);
  });

  test("lets a turn that was taken away change nothing, and runs its work again", async () => {
    let resume = (): void => undefined;
    const paused = new Promise<void>((resolve) => (resume = resolve));
    let isReading = (): void => undefined;
    const reading = new Promise<void>((resolve) => (isReading = resolve));
    let runs = 0;
    const slow = newLock().exclusive(async (turn) => {
      runs += 1;
      const before = readdirSync(directory).includes("target") ? readFileSync(target(), "utf8") : "";
      isReading();
      await paused;
      await turn.write(target(), `${before}slow`);
    });
    await reading;
    await newLock().exclusive(append("fast "));
    resume();
    await slow;
    expect(readFileSync(target(), "utf8")).toBe("fast slow");
    expect(runs).toBe(2);
  });

  test("loses no change that was confirmed while turns are taken away all the time", async () => {
    writeFileSync(target(), "0");
    const increment = async (turn: Turn): Promise<void> => {
      const before = Number(readFileSync(target(), "utf8"));
      await turn.write(target(), String(before + 1));
    };
    // For them five seconds pass while another one waits for the disk.
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => newLock().exclusive(increment)));
    const confirmed = results.filter(({ status }) => status === "fulfilled").length;
    expect(readFileSync(target(), "utf8")).toBe(String(confirmed));
  });

  test("lets a turn that was taken away remove nothing", async () => {
    let isFirst = true;
    writeFileSync(target(), "old");
    await newLock().exclusive(async (turn) => {
      if (isFirst) {
        isFirst = false;
        await newLock().exclusive((other) => other.write(target(), "new"));
        expect(() => {
          turn.remove(target());
        }).toThrow();
      }
    });
    expect(readFileSync(target(), "utf8")).toBe("new");
  });

  test("gives up after 30 seconds in which others have one turn after the other", async () => {
    let number = 1;
    writeFileSync(at("1"), ticketOf(identifyProcess()));
    const lock = new TurnLock(directory, {
      pause: async (ms) => {
        await pause(ms);
        rmSync(at(String(number)));
        number += 1;
        writeFileSync(at(String(number)), ticketOf(identifyProcess()));
      },
    });
    await expect(lock.exclusive(append("a"))).rejects.toMatchObject({
      code: "UNREADABLE",
      message: `${directory} stayed locked by other processes for 30 seconds; nothing was changed.`,
    });
    expect(waited).toBeGreaterThanOrEqual(30_000);
    expect(waited).toBeLessThan(31_000);
    expect(readdirSync(directory)).not.toContain("target");
  });

  test("gives up when every turn is taken away", async () => {
    let runs = 0;
    await expect(
      newLock().exclusive(async (turn) => {
        runs += 1;
        await newLock().exclusive(append("other "));
        await turn.write(target(), "own");
      }),
    ).rejects.toMatchObject({ code: "UNREADABLE" });
    expect(runs).toBe(5);
    expect(readFileSync(target(), "utf8")).toBe("other ".repeat(5));
  });

  test("removes what killed processes were writing, and old tickets", async () => {
    writeFileSync(at("3"), ticketOf(await exitedProcess()));
    writeFileSync(at("3.1.staged"), "half");
    for (let turns = 0; turns < 20; turns++) await newLock().exclusive(append("x"));
    const names = readdirSync(directory).filter((name) => name !== "target");
    expect(names).toHaveLength(8);
    expect(names).toEqual(expect.arrayContaining(["23.free", "22.free", "16.free"]));
  });

  test("ignores files that are not its own, numbers to which nobody counted, directories and links", async () => {
    const files = ["x", "01.freed", "99999999999999999999", "5.staged", "-1", "1.2.3.staged", "007", "0", "1000000001"];
    const planted = [...files, "999999999999999", "999999999999000.free", "400000000000000"];
    for (const name of planted) writeFileSync(at(name), "");
    const directories = ["1", "9", "12.free", "3.1.staged", "900000000000000"];
    for (const name of directories) mkdirSync(at(name));
    symlinkSync("/dev/zero", at("14"));
    for (let turns = 0; turns < 20; turns++) await newLock().exclusive(append("x"));
    expect(readFileSync(target(), "utf8")).toBe("x".repeat(20));
    expect(waited).toBe(0);
    expect([...foreignTo(directory)].sort()).toEqual(
      [...planted, "1", "9", "12.free", "900000000000000", "14", "target"].sort(),
    );
  });

  test("counts on from any number that a file may have, and ignores the next ones that are too high", async () => {
    writeFileSync(at("1000000000"), ticketOf(await exitedProcess()));
    writeFileSync(at("999999999999999"), "");
    for (let turns = 0; turns < 20; turns++) await newLock().exclusive(append("x"));
    expect(readFileSync(target(), "utf8")).toBe("x".repeat(20));
    expect(waited).toBe(0);
  });

  test("finds nothing foreign in a directory that does not exist, or that only turns have used", async () => {
    await newLock().exclusive(() => Promise.resolve());
    writeFileSync(at("1.1.staged"), "half");
    expect(foreignTo(directory)).toEqual([]);
    expect(foreignTo(at("missing"))).toEqual([]);
  });
});
