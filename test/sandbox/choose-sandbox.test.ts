import { expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/choose-sandbox.ts";

test("The first tier that works is used, and no further one is tried", async ({ skip }) => {
  const { sandbox, tiers } = await openSandbox();
  if (sandbox === undefined) skip("Nothing here can isolate.");
  await sandbox?.close();
  expect(tiers.map(({ usable }) => usable)).toEqual([...tiers.slice(1).map(() => false), true]);
  expect(tiers.at(-1)?.tier).toBe(sandbox?.tier);
});

test("A tier that was asked for by name and cannot be had is not replaced", async () => {
  const python = "/absent/python";
  const { sandbox, tiers } = await openSandbox({ isolation: "landlock", python });
  expect(sandbox).toBeUndefined();
  expect(tiers).toMatchObject([{ tier: "landlock", usable: false, reason: expect.stringContaining(python) as string }]);
});
