import { existsSync, mkdtempSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { hostDirectoryPrefix } from "../../src/sandbox/directory/host-directory.ts";
import { removeTree } from "../../src/sandbox/directory/remove-tree.ts";

test("The first tier that works is used, and no further one is tried", async ({ skip }) => {
  const { sandbox, tiers } = await openSandbox();
  if (sandbox === undefined) skip("Nothing here can isolate.");
  await sandbox?.close();
  expect(tiers.map(({ usable }) => usable)).toEqual([...tiers.slice(1).map(() => false), true]);
  expect(tiers.at(-1)?.tier).toBe(sandbox?.tier);
});

// Their users are others than root, and must get there.
test.skipIf(process.getuid?.() !== 0)(
  "Where only root gets to, sandboxes lie elsewhere, and so do leftovers",
  async () => {
    const closed = mkdtempSync(join(tmpdir(), "closed-"));
    const leftover = mkdtempSync(`/tmp/${hostDirectoryPrefix}`);
    try {
      utimesSync(leftover, 0, 0);
      await openSandbox({ isolation: "landlock", python: "/absent/python", temporaryDirectory: closed });
      expect(existsSync(leftover)).toBe(false);
    } finally {
      await Promise.all([closed, leftover].map(removeTree));
    }
  },
);

test("A tier that was asked for by name and cannot be had is not replaced", async () => {
  const python = "/absent/python";
  const { sandbox, tiers } = await openSandbox({ isolation: "landlock", python });
  expect(sandbox).toBeUndefined();
  expect(tiers).toMatchObject([{ tier: "landlock", usable: false, reason: expect.stringContaining(python) as string }]);
});
