import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bait, openBait } from "../../contract/sandbox/bait.ts";
import { filesystemAttacks } from "../../contract/sandbox/filesystem-attacks.ts";
import { kernelAttacks } from "../../contract/sandbox/kernel-attacks.ts";
import { networkAttacks } from "../../contract/sandbox/network-attacks.ts";
import { processAttacks } from "../../contract/sandbox/process-attacks.ts";
import { runUnconfined } from "../../contract/sandbox/run-unconfined.ts";
import { attackCode } from "../../contract/sandbox/runs.ts";

/** Controls: an attack that fails everywhere proves nothing, so the harmless ones also run without a sandbox. */
describe.skipIf(process.platform !== "linux")("attacks without a sandbox", () => {
  let bait: Bait;
  beforeAll(async () => {
    bait = await openBait();
  });
  afterAll(() => bait.close());

  const attacks = [...filesystemAttacks, ...processAttacks, ...networkAttacks, ...kernelAttacks].filter(
    ({ control }) => control === "succeeds",
  );
  it.each(attacks.map((attack) => [attack.tries, attack] as const))("succeed: %s", async (_tries, { code }) => {
    const report = await runUnconfined(attackCode(code), bait.facts);
    const { tried } = report as { tried: Record<string, string> };
    expect(Object.values(tried).filter((outcome) => outcome.startsWith("got: "))).not.toEqual([]);
    expect(Object.values(tried).filter((outcome) => outcome.startsWith("broken: "))).toEqual([]);
  });

  it("are detected by the bait", () => {
    expect(bait.harm()).toEqual(
      expect.arrayContaining([
        "TCP on 127.0.0.1 was connected to",
        "the unix socket was connected to",
        expect.stringContaining("files were changed"),
      ]),
    );
  });
});
