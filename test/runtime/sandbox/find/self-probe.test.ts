import { mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeTree } from "../../../../src/runtime/sandbox/directory/private-directory.ts";
import { probeSandbox } from "../../../../src/runtime/sandbox/find/self-probe.ts";
import { manualClock } from "../../../manual-clock.ts";
import { type MemoryStage, memorySandbox } from "../memory-sandbox.ts";

describe("probeSandbox", () => {
  let temporary = "";
  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), "self-probe-"));
  });
  afterEach(() => removeTree(temporary));

  type Args = { readonly [name: string]: string };
  /** Probes a tier whose program returns `answer`. */
  const probe = (answer: (args: Args) => object): Promise<string | undefined> =>
    probeSandbox(
      memorySandbox(
        ({ run }: MemoryStage) => ({
          type: "returned",
          value: answer((run.program as unknown as { args: Args }).args) as never,
        }),
        { clock: manualClock() },
      ),
      temporary,
    );

  test("accepts a tier in which nothing was reached, and leaves no files behind", async () => {
    expect(await probe(({ nonce }) => ({ ran: nonce, found: {} }))).toBeUndefined();
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("rejects a tier that leaks, and one that ran other code", async () => {
    expect(await probe(({ nonce }) => ({ ran: nonce, found: { file: "x" } }))).toContain("file");
    expect(await probe(() => ({ ran: "something else", found: {} }))).toContain("not that of the code");
  });

  test("names its directory so that leftovers can be swept", async () => {
    let name = "";
    await probe(({ file = "" }) => {
      name = basename(dirname(dirname(file)));
      return {};
    });
    expect(name).toMatch(new RegExp(`^acp-skills-run-${process.pid}-`));
  });

  // Other users could create links there, which the cleanup would follow.
  test.skipIf(process.platform === "win32")(
    "puts its bait below a directory that other users cannot list",
    async () => {
      const rights: number[] = [];
      await probe(({ file = "" }) => {
        for (let at = dirname(file); at !== temporary; at = dirname(at)) rights.push(statSync(at).mode & 0o777);
        return {};
      });
      expect(rights).toEqual([0o777, 0o711]);
    },
  );
});
