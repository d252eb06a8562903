import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import { ownerFile } from "../../../src/sandbox/directory/host-directory.ts";
import { removeTree } from "../../../src/sandbox/directory/private-directory.ts";
import { probeSandbox } from "../../../src/sandbox/find/self-probe.ts";
import { manualClock } from "../../manual-clock.ts";
import { memorySandbox } from "../memory-sandbox.ts";
import type { MemoryStage } from "../memory-sandbox.ts";

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

  test("records the owner of its directory so that leftovers can be swept", async () => {
    let owner: unknown;
    await probe(({ file = "" }) => {
      owner = JSON.parse(readFileSync(join(dirname(dirname(file)), ownerFile), "utf8"));
      return {};
    });
    expect(owner).toEqual(identifyProcess());
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
