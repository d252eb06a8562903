import { describe, expect, it } from "vitest";
import { openSettle } from "../../../src/skills/watch/settle.ts";
import { manualClock } from "../../manual-clock.ts";

describe("settle", () => {
  function start(): { clock: ReturnType<typeof manualClock>; settle: ReturnType<typeof openSettle>; looks: number[] } {
    const clock = manualClock();
    const looks: number[] = [];
    return { clock, looks, settle: openSettle(clock, () => looks.push(clock.now())) };
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
    const settle = openSettle(late, (quiet) => told.push(quiet));
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
