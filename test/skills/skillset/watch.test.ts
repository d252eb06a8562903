import { expect, test } from "vitest";
import { memoryWatcher } from "./watch/memory-watcher.ts";
import { shareWatcher, type SkillWatcher } from "../../../src/skills/skillset/watch.ts";

function open(): {
  readonly below: ReturnType<typeof memoryWatcher>;
  readonly opened: () => number;
  readonly hints: string[];
  readonly openUser: (name: string) => SkillWatcher;
} {
  const below = memoryWatcher();
  const hints: string[] = [];
  let opened = 0;
  const openShared = shareWatcher((hint, degraded) => {
    opened++;
    return below.open(hint, degraded);
  });
  const openUser = (name: string): SkillWatcher =>
    openShared(
      (directory, changed) => hints.push(`${name}: ${directory} ${changed ?? ""}`),
      () => undefined,
    );
  return { below, opened: () => opened, hints, openUser };
}

test("each watcher receives only the hints for its own directories", async () => {
  const { below, opened, hints, openUser } = open();
  const [one, two] = [openUser("one"), openUser("two")];
  expect(opened()).toBe(1);
  one.add("/a");
  two.add("/a");
  two.add("/b");
  below.touch("/a", "x");
  below.touch("/b", "x");
  expect(hints).toEqual(["one: /a x", "two: /a x", "two: /b x"]);
  await Promise.all([one.close(), two.close()]);
});

test("watches a path until its last user removes it, and closes with the last user", async () => {
  const { below, opened, hints, openUser } = open();
  const [one, two] = [openUser("one"), openUser("two")];
  for (const user of [one, two]) user.add("/a");
  one.add("/b");
  one.remove("/a");
  one.remove("/never");
  expect([...below.watched]).toEqual(["/a", "/b"]);
  await one.close();
  await one.close();
  one.add("/late");
  expect([...below.watched]).toEqual(["/a"]);
  below.touch("/a", "x");
  expect(hints).toEqual(["two: /a x"]);
  expect(below.isClosed).toBe(false);
  await two.close();
  expect(below.isClosed).toBe(true);
  await openUser("three").close();
  expect(opened()).toBe(2);
});
