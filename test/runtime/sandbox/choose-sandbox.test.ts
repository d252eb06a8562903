import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../../../src/runtime/sandbox/choose-sandbox.ts";
import { ownedName } from "../../../src/base/processes/live-process.ts";
import { hostDirectoryPrefix } from "../../../src/runtime/sandbox/directory/host-directory.ts";
import { removeTree } from "../../../src/runtime/sandbox/directory/private-directory.ts";

test("uses the first available tier and tries no further ones", async ({ skip }) => {
  const { sandbox, tiers } = await openSandbox();
  if (sandbox === undefined) skip("Nothing here can isolate.");
  await sandbox?.close();
  expect(tiers.map(({ usable }) => usable)).toEqual([...tiers.slice(1).map(() => false), true]);
  expect(tiers.at(-1)?.tier).toBe(sandbox?.tier);
});

// Sandboxes run as other users, which need access to the directory.
test.skipIf(process.getuid?.() !== 0)(
  "puts sandboxes elsewhere if only root can access the temporary directory, and sweeps that place",
  async () => {
    const closed = mkdtempSync(join(tmpdir(), "closed-"));
    const leftover = `/tmp/${hostDirectoryPrefix}${ownedName().replace(/^\d+/, String(2 ** 22 + 1))}`;
    mkdirSync(leftover);
    try {
      await openSandbox({ isolation: "landlock", python: "/absent/python", temporaryDirectory: closed });
      expect(existsSync(leftover)).toBe(false);
    } finally {
      await Promise.all([closed, leftover].map(removeTree));
    }
  },
);

test("never chooses to run without a sandbox, not even if it is asked to", { timeout: 60_000 }, async () => {
  const python = "/absent/python";
  const { sandbox, tiers } = await openSandbox({ everyTier: true, python });
  await sandbox?.close();
  expect(tiers.map(({ tier }) => tier)).not.toContain("none");
  const asked = await openSandbox({ isolation: "none" as "auto" });
  expect(asked).toEqual({ tiers: [{ tier: "none", usable: false, reason: "Unknown sandbox tier: none.", fix: [] }] });
});

test("does not fall back to another tier if the requested one is unavailable", async () => {
  const python = "/absent/python";
  const { sandbox, tiers } = await openSandbox({ isolation: "landlock", python });
  expect(sandbox).toBeUndefined();
  expect(tiers).toMatchObject([{ tier: "landlock", usable: false, reason: expect.stringContaining(python) as string }]);
});
