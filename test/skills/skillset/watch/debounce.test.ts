import { describe, expect, it } from "vitest";
import { openHold, openDebounce } from "../../../../src/skills/skillset/watch/debounce.ts";
import type { DirectoryRecord } from "../../../../src/skills/skillset/read-directory.ts";
import { record } from "../../found-skills.ts";
import { manualClock } from "../../../manual-clock.ts";

const good = record("/s/a");
const empty = record("/s/a", "");
const parent: DirectoryRecord = { ...empty, path: "/s", isSkill: false, children: [{ name: "a", target: undefined }] };
const childless: DirectoryRecord = { ...parent, children: [] };

describe("hold", () => {
  function start(): { clock: ReturnType<typeof manualClock>; hold: ReturnType<typeof openHold>; again: string[] } {
    const clock = manualClock();
    const again: string[] = [];
    return { clock, again, hold: openHold(clock, (directory) => again.push(`${directory} ${clock.now()}`)) };
  }

  it.each([
    ["a skill that became empty", good, empty],
    ["a directory that was removed", good, undefined],
    ["a directory that lost a subdirectory", parent, childless],
  ])("holds back %s for 40 ms, requests a rescan, and then accepts it", (_what, before, now) => {
    const { clock, hold, again } = start();
    expect(hold.isHeld("/d", before, now)).toBe(true);
    clock.pass(20);
    expect(hold.isHeld("/d", before, now)).toBe(true);
    clock.pass(20);
    expect(again).toEqual(["/d 40"]);
    expect(hold.isHeld("/d", before, now)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("accepts a change that is no loss immediately and cancels the pending hold", () => {
    const { clock, hold, again } = start();
    expect(hold.isHeld("/d", empty, good)).toBe(false);
    expect(hold.isHeld("/d", childless, parent)).toBe(false);
    expect(hold.isHeld("/d", good, empty)).toBe(true);
    expect(hold.isHeld("/d", good, record("/s/a", "---\ndescription: New.\n---\n"))).toBe(false);
    clock.pass(100);
    expect(again).toEqual([]);
    expect(hold.isHeld("/d", good, empty)).toBe(true);
  });

  it("accepts a loss immediately after 40 ms without events and cancels the pending hold", () => {
    const { clock, hold, again } = start();
    expect(hold.isHeld("/d", good, undefined)).toBe(true);
    expect(hold.isHeld("/d", good, undefined, 39)).toBe(true);
    expect(hold.isHeld("/d", good, undefined, 40)).toBe(false);
    clock.pass(100);
    expect(again).toEqual([]);
    expect(hold.isHeld("/d", good, undefined)).toBe(true);
  });

  it("accepts a loss when the timer fires, even if it fires early", () => {
    let fire = (): void => undefined;
    const early = { now: () => 0, after: (_ms: number, callback: () => void) => ((fire = callback), () => undefined) };
    const again: string[] = [];
    const hold = openHold(early, (directory) => again.push(directory));
    expect(hold.isHeld("/d", good, undefined)).toBe(true);
    fire();
    expect(again).toEqual(["/d"]);
    expect(hold.isHeld("/d", good, undefined)).toBe(false);
  });

  it("holds back a lost manifest, but not a new one", () => {
    const { hold } = start();
    const skill = good.skill && { ...good.skill, dialect: "skills-protocol" as const };
    expect(hold.isHeld("/d", good, { ...good, skill })).toBe(false);
    expect(hold.isHeld("/d", { ...good, skill }, good)).toBe(true);
  });

  it("cancels its timers on close", () => {
    const { clock, hold } = start();
    hold.isHeld("/d", good, undefined);
    hold.close();
    expect(clock.pending).toBe(0);
  });
});

describe("settle", () => {
  function start(): {
    clock: ReturnType<typeof manualClock>;
    settle: ReturnType<typeof openDebounce>;
    looks: number[];
  } {
    const clock = manualClock();
    const looks: number[] = [];
    return { clock, looks, settle: openDebounce(clock, () => looks.push(clock.now())) };
  }

  it("fires 6 ms after the last hint of an edit", () => {
    const { clock, settle, looks } = start();
    settle.hint("/a");
    clock.pass(5);
    settle.hint("/a");
    clock.pass(5);
    expect(looks).toEqual([]);
    clock.pass(100);
    expect(looks).toEqual([11]);
    expect(clock.pending).toBe(0);
  });

  it("fires once for hints in hundreds of directories, after 60 ms without hints", () => {
    const { clock, settle, looks } = start();
    for (let directory = 0; directory < 300; directory++) {
      settle.hint(`/${directory}`);
      clock.pass(directory < 10 ? 1 : 3);
    }
    expect(looks).toEqual([]);
    const last = clock.now() - 3;
    clock.pass(1000);
    expect(looks).toEqual([last + 60]);
  });

  it("fires after 1 second at the latest while hints continue", () => {
    const { clock, settle, looks } = start();
    for (let hint = 0; hint < 500; hint++) {
      settle.hint(`/${hint % 50}`);
      clock.pass(5);
    }
    expect(looks.length).toBeGreaterThanOrEqual(2);
    expect(looks[0]).toBe(1000);
  });

  it("passes the debounce time, even if the timer fires late", () => {
    const clock = manualClock();
    const late = { ...clock, after: (wait: number, wake: () => void) => clock.after(wait + 50, wake) };
    const told: number[] = [];
    const settle = openDebounce(late, (quiet) => told.push(quiet));
    settle.hint("/a");
    clock.pass(56);
    for (let directory = 0; directory < 5; directory++) settle.hint(`/${directory}`);
    clock.pass(110);
    for (let hint = 0; hint < 220; hint++) {
      settle.hint(`/${hint % 5}`);
      clock.pass(5);
    }
    expect(told).toEqual([6, 60, 0]);
  });

  it("does not fire after close", () => {
    const { clock, settle, looks } = start();
    settle.hint("/a");
    settle.close();
    clock.pass(1000);
    expect(looks).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
