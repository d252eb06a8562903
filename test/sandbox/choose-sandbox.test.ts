import { existsSync, mkdtempSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { composeSandboxes, openSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { hostDirectoryPrefix } from "../../src/sandbox/host-directory.ts";
import { memorySandbox } from "../../src/sandbox/memory-sandbox.ts";
import { removeTree } from "../../src/sandbox/remove-tree.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { recordingHost } from "../contract/sandbox/recording-host.ts";
import { codeRun } from "../contract/sandbox/runs.ts";
import { expectUnavailable } from "../contract/sandbox/tier.ts";
import { manualClock } from "../manual-clock.ts";

const network = codeRun("", { network: ["https://example.org"] });

function tierThat(answers: string, refusal?: string): Sandbox {
  return memorySandbox(() => ({ type: "returned", value: answers }), {
    clock: manualClock(),
    refuses: ({ network }) => (network.length > 0 ? refusal : undefined),
  });
}

const run = (sandbox: Sandbox, what = codeRun("")) => sandbox.run(what, recordingHost(), new AbortController().signal);

test("A run goes to the best sandbox that does not refuse it", async () => {
  const both = composeSandboxes([tierThat("best", "No network."), tierThat("second")]);
  expect(await run(both)).toEqual({ type: "returned", value: "best" });
  expect(both.refuses(network)).toBeUndefined();
  expect(await run(both, network)).toEqual({ type: "returned", value: "second" });
});

test("What all refuse is refused, with the reasons of all", async () => {
  const both = composeSandboxes([tierThat("best", "No network."), tierThat("second", "Not here.")]);
  expect(both.refuses(network)).toBe("No network. Not here.");
  await expectUnavailable(run(both, network));
});

test("A run that failed is not tried elsewhere", async () => {
  const clock = manualClock();
  const failing = memorySandbox(() => ({ type: "crashed", detail: "no" }), { clock });
  const never = memorySandbox(() => expect.fail("It was tried again."), { clock });
  expect(await run(composeSandboxes([failing, never]))).toMatchObject({ type: "crashed", detail: "no" });
});

test("Closing closes all", async () => {
  const tiers = [tierThat("best"), tierThat("second")];
  await composeSandboxes(tiers).close();
  for (const tier of tiers) await expectUnavailable(run(tier));
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
