import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { frameLimits } from "../../../src/sandbox/frames/frame-limits.ts";
import { openFramePace } from "../../../src/sandbox/frames/frame-pace.ts";
import type { Frame } from "../../../src/sandbox/frames/frames.ts";
import { manualClock } from "../../manual-clock.ts";

const megabyte = 1024 * 1024;

function frameOf(type: string, headerBytes: number): Frame {
  return { header: { type }, headerBytes, isTooDeep: false, size: 0, payload: (async function* () {})() };
}

/** Sends the same frame repeatedly; `settled` returns how many have passed so far. */
function flood(frame: Frame, over = new AbortController().signal) {
  const clock = manualClock();
  const pace = openFramePace(clock);
  let passed = 0;
  void (async () => {
    while (!over.aborted) {
      await pace(frame, over);
      passed += 1;
      await setImmediate();
    }
  })();
  return {
    clock,
    settled: async (): Promise<number> => {
      for (let last = -1; last !== passed;) {
        last = passed;
        for (let turn = 0; turn < 5; turn++) await setImmediate();
      }
      return passed;
    },
  };
}

test("lets a burst of headers pass immediately, then limits the bytes per second", async () => {
  const over = new AbortController();
  const { clock, settled } = flood(frameOf("call_skill", 4 * megabyte), over.signal);
  const burst = frameLimits.burstBytes / (4 * megabyte);
  expect(await settled()).toBe(burst);
  for (let second = 1; second <= 5; second++) {
    clock.pass(1000);
    expect(await settled()).toBe(burst + (second * frameLimits.bytesPerSecond) / (4 * megabyte));
  }
  over.abort();
  await settled();
});

test("lets a burst of calls pass immediately, then limits the calls per second", async () => {
  const over = new AbortController();
  const { clock, settled } = flood(frameOf("create_blob", 100), over.signal);
  expect(await settled()).toBe(frameLimits.burstCalls);
  for (let turn = 0; turn < 200; turn++) {
    clock.pass(5);
    await settled();
  }
  expect(Math.abs((await settled()) - frameLimits.burstCalls - frameLimits.callsPerSecond)).toBeLessThanOrEqual(1);
  over.abort();
  await settled();
});

test("does not delay printed output and other small frames", async () => {
  const over = new AbortController();
  const { settled, clock } = flood(frameOf("print", 40), over.signal);
  for (let turn = 0; turn < 2_000; turn++) await setImmediate();
  expect(clock.pending).toBe(0);
  over.abort();
  expect(await settled()).toBeGreaterThan(1_000);
});

test("stops waiting when the run is over", async () => {
  const over = new AbortController();
  const { settled, clock } = flood(frameOf("call_skill", 100 * megabyte), over.signal);
  expect(await settled()).toBe(0);
  over.abort();
  expect(await settled()).toBe(1);
  expect(clock.pending).toBe(0);
});
