import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import { ownerFile } from "../../../src/sandbox/directory/host-directory.ts";
import { memorySandbox } from "../../../src/sandbox/memory-sandbox.ts";
import type { MemoryStage } from "../../../src/sandbox/memory-sandbox.ts";
import { removeTree } from "../../../src/sandbox/directory/remove-tree.ts";
import { probeSandbox } from "../../../src/sandbox/find/self-probe.ts";
import { manualClock } from "../../manual-clock.ts";

describe("the probe of a tier", () => {
  let temporary = "";
  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), "self-probe-"));
  });
  afterEach(() => removeTree(temporary));

  type Args = { readonly [name: string]: string };
  /** What it says of a tier in which the program does this. */
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

  test("takes a tier in which nothing was reached, and leaves nothing", async () => {
    expect(await probe(({ nonce }) => ({ ran: nonce, found: {} }))).toBeUndefined();
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("refuses one that leaks, and one in which something else ran", async () => {
    expect(await probe(({ nonce }) => ({ ran: nonce, found: { file: "x" } }))).toContain("file");
    expect(await probe(() => ({ ran: "something else", found: {} }))).toContain("not that of the code");
  });

  test("says whose its directory is, so that what a kill leaves is removed at once", async () => {
    let owner: unknown;
    await probe(({ file = "" }) => {
      owner = JSON.parse(readFileSync(join(dirname(dirname(file)), ownerFile), "utf8"));
      return {};
    });
    expect(owner).toEqual(identifyProcess());
  });

  // There, everyone may make links, which we would follow when we tidy up.
  test.skipIf(process.platform === "win32")("keeps its bait where others on the machine do not find it", async () => {
    const rights: number[] = [];
    await probe(({ file = "" }) => {
      for (let at = dirname(file); at !== temporary; at = dirname(at)) rights.push(statSync(at).mode & 0o777);
      return {};
    });
    expect(rights).toEqual([0o777, 0o711]);
  });
});
