import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBait } from "../contract/sandbox/bait.ts";
import type { Bait } from "../contract/sandbox/bait.ts";
import { filesystemAttacks } from "../contract/sandbox/filesystem-attacks.ts";
import { kernelAttacks } from "../contract/sandbox/kernel-attacks.ts";
import { networkAttacks } from "../contract/sandbox/network-attacks.ts";
import { processAttacks } from "../contract/sandbox/process-attacks.ts";
import { runUnconfined } from "../contract/sandbox/run-unconfined.ts";
import { attackCode } from "../contract/sandbox/runs.ts";

/** An attack that fails everywhere shows nothing. Those that harm nobody who is not the bait are tried without a sandbox. */
describe.skipIf(process.platform !== "linux")("without a sandbox, attacks succeed", () => {
  let bait: Bait;
  beforeAll(async () => {
    bait = await openBait();
  });
  afterAll(() => bait.close());

  const attacks = [...filesystemAttacks, ...processAttacks, ...networkAttacks, ...kernelAttacks].filter(
    ({ control }) => control === "succeeds",
  );
  it.each(attacks.map((attack) => [attack.tries, attack] as const))("to %s", async (_tries, { code }) => {
    const report = await runUnconfined(attackCode(code), bait.facts);
    const { tried } = report as { tried: Record<string, string> };
    expect(Object.values(tried).filter((outcome) => outcome.startsWith("got: "))).not.toEqual([]);
    expect(Object.values(tried).filter((outcome) => outcome.startsWith("broken: "))).toEqual([]);
  });

  it("and the bait sees that it was touched", () => {
    expect(bait.harm()).toEqual(
      expect.arrayContaining([
        "TCP on 127.0.0.1 was connected to",
        "the unix socket was connected to",
        expect.stringContaining("files were changed"),
      ]),
    );
  });
});
