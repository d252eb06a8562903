import { existsSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SkillsError } from "../../../src/base/errors.ts";
import { firstRetryMs, maxRetryMs, usualIntervalMs } from "../../../src/sources/store/refresh.ts";
import { copyPath } from "../../../src/sources/store/store-paths.ts";
import { fakeSource, isDown, listed, newDataDirectory, openRefresh } from "./open-store.ts";

const { signal } = new AbortController();
const looks = ({ asked }: { readonly asked: readonly string[] }): number =>
  asked.filter((what) => what === "index").length;

async function started(...given: Parameters<typeof openRefresh>) {
  const opened = openRefresh(...given);
  opened.refresh.start();
  await opened.refresh.idle();
  return opened;
}

describe("when a source is looked at", () => {
  test("at once if it was never read, and then every hour", async () => {
    const fake = fakeSource("alpha");
    const { pass, bodies, state } = await started(fake);
    await pass(0);
    expect(bodies()).toEqual({ alpha: "version 1" });
    expect(state().nextLook).toBe(usualIntervalMs);
    fake.skills = [listed("alpha", "2")];
    await pass(usualIntervalMs - 1);
    expect(looks(fake)).toBe(1);
    await pass(1);
    expect(bodies()).toEqual({ alpha: "version 2" });
  });

  test.each([
    [0, 0.9],
    [1, 1.1],
  ])("give or take a tenth (random %d)", async (random, factor) => {
    const { pass, state } = await started(fakeSource("alpha"), { random });
    await pass(0);
    expect(state().nextLook).toBeCloseTo(usualIntervalMs * factor, 0);
  });

  test("not at once if another process read it a moment ago", async () => {
    const dataDirectory = newDataDirectory();
    const first = await started(fakeSource("alpha"), { dataDirectory });
    await first.pass(0);
    const fake = fakeSource("alpha");
    const second = await started(fake, { dataDirectory });
    expect(second.bodies()).toEqual({ alpha: "version 1" });
    await second.pass(usualIntervalMs - 1);
    expect(looks(fake)).toBe(0);
  });

  test("by one process only of those that wait for it", async () => {
    const dataDirectory = newDataDirectory();
    const [one, other] = [fakeSource("alpha"), fakeSource("alpha")];
    const both = [await started(one, { dataDirectory }), await started(other, { dataDirectory })];
    await Promise.all(both.map((each) => each.pass(0)));
    expect(looks(one) + looks(other)).toBe(1);
  });

  test("after a failure again in 5 minutes, then after twice as long each time, at most a day", async () => {
    const fake = fakeSource("alpha");
    fake.skills = isDown;
    const { pass, state, clock } = await started(fake);
    await pass(0);
    const waits: number[] = [];
    for (let count = 0; count < 11; count++) {
      waits.push(state().nextLook - clock.now());
      await pass(state().nextLook - clock.now());
    }
    const doubled = Array.from({ length: 11 }, (_, count) => Math.min(firstRetryMs * 2 ** count, maxRetryMs));
    expect(waits).toEqual(doubled);
    expect(waits.at(-1)).toBe(24 * 60 * 60 * 1_000);
    fake.skills = [listed("alpha", "1")];
    await pass(maxRetryMs);
    expect(state()).toMatchObject({ failures: 0, nextLook: clock.now() + usualIntervalMs });
  });

  test("not before the time that the source asked for", async () => {
    const fake = fakeSource("alpha");
    const facts = { retryAfterSeconds: 3_600 };
    fake.skills = new SkillsError("ENDPOINT_UNREACHABLE", "skills.example: 429", { facts });
    const { pass, state } = await started(fake);
    await pass(0);
    expect(state().nextLook).toBe(3_600_000);
  });

  test("at the latest after a day, whatever the source asks for", async () => {
    const fake = fakeSource("alpha");
    const facts = { retryAfterSeconds: 1e12 };
    fake.skills = new SkillsError("RATE_LIMITED", "skills.example: 429", { facts });
    const { pass, state } = await started(fake);
    await pass(0);
    expect(state().nextLook).toBe(maxRetryMs);
  });
});

describe("a source that is down", () => {
  test("keeps its last good copies, and is warned about once", async () => {
    const fake = fakeSource("alpha");
    const { pass, bodies, told, state, clock } = await started(fake);
    await pass(0);
    for (const failure of [isDown, isDown, new SkillsError("SOURCE_INVALID", "the index is not JSON")]) {
      fake.skills = failure;
      await pass(state().nextLook - clock.now());
      expect(bodies()).toEqual({ alpha: "version 1" });
    }
    expect(told).toEqual([
      "The skills of https://skills.example/acme could not be read: skills.example: no connection. The last good copy of 1970-01-01T00:00Z stays in use.",
      "The skills of https://skills.example/acme could not be read: the index is not JSON. The last good copy of 1970-01-01T00:00Z stays in use.",
    ]);
  });

  test("and was never read is said to have no copy", async () => {
    const fake = fakeSource();
    fake.skills = isDown;
    const { pass, told } = await started(fake);
    await pass(0);
    expect(told).toEqual([
      "The skills of https://skills.example/acme could not be read: skills.example: no connection. There is no copy of them yet.",
    ]);
  });

  test("is asked again at once by who asks for it, whatever the time", async () => {
    const fake = fakeSource("alpha");
    fake.skills = isDown;
    const { pass, refresh, bodies } = await started(fake);
    await pass(0);
    fake.skills = [listed("alpha", "1")];
    expect(await refresh.refresh(signal)).toMatchObject({ state: { failures: 0 } });
    expect(bodies()).toEqual({ alpha: "version 1" });
  });
});

test("problems of single skills are reported, each list once", async () => {
  const fake = fakeSource("alpha");
  fake.index = { problems: ["alpha: it has no description", "b", "c", "d", "e", "f"] };
  const { pass, told } = await started(fake);
  await pass(0);
  await pass(usualIntervalMs);
  expect(told).toEqual([
    "Not all of https://skills.example/acme can be used: alpha: it has no description; b; c; d; e; … and 1 more",
  ]);
});

test("two requests for a look at a time are one look", async () => {
  const fake = fakeSource("alpha");
  const { refresh } = openRefresh(fake);
  await Promise.all([refresh.refresh(signal), refresh.refresh(signal)]);
  expect(looks(fake)).toBe(1);
});

test("a copy that disappeared is downloaded again at the start, without waiting for the next look", async () => {
  const dataDirectory = newDataDirectory();
  const first = await started(fakeSource("alpha"), { dataDirectory });
  await first.pass(0);
  rmSync(copyPath(first.paths, first.state().skills[0]!), { recursive: true });
  const fake = fakeSource("alpha");
  const second = await started(fake, { dataDirectory });
  await second.pass(0);
  expect(looks(fake)).toBe(1);
  expect(second.bodies()).toEqual({ alpha: "version 1" });
});

test("closing ends a download, does not count it as a failure, and leaves no timer", async () => {
  const fake = fakeSource("alpha");
  const { openReader } = fake;
  let begun = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const stuck = {
    ...fake,
    openReader: async () => ({
      ...(await openReader()),
      skillFiles: (_skill: unknown, stop: AbortSignal) => {
        begun();
        return new Promise<never>((_resolve, reject) => {
          stop.addEventListener("abort", () => reject(stop.reason as Error));
        });
      },
    }),
  };
  const { refresh, clock, state, told, paths } = await started(stuck);
  clock.pass(0);
  await hasBegun;
  await refresh.close();
  await refresh.close();
  expect(state()).toMatchObject({ failures: 0, nextLook: 0, skills: [] });
  expect(told).toEqual([]);
  expect(clock.pending).toBe(0);
  expect(existsSync(paths.trash)).toBe(true);
});

test("a data directory that cannot be used is a warning, and ends nothing else", async () => {
  const fake = fakeSource("alpha");
  const opened = openRefresh(fake);
  rmSync(opened.paths.sources, { recursive: true });
  const { writeFileSync } = await import("node:fs");
  writeFileSync(opened.paths.sources, "");
  opened.refresh.start();
  await opened.refresh.idle();
  expect(opened.told).toMatchObject([expect.stringContaining("cannot be changed")]);
  expect(looks(fake)).toBe(0);
});
