import { expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { findDenoParts } from "../../src/sandbox/find-deno.ts";
import { openPyodideTier } from "../../src/sandbox/pyodide-tier.ts";
import { peers } from "./open-pyodide.ts";

const parts = findDenoParts(peers);

it.skipIf(typeof parts === "string")(
  "opens a tier that holds when it is tried from inside",
  async () => {
    const pool = { size: 2, idleMs: 1000 };
    const opened = await openPyodideTier({ peersFrom: peers, pool, clock: systemClock, log: silentLog });
    expect(opened).toHaveProperty("tier", "pyodide");
    if ("close" in opened) await opened.close();
  },
  60_000,
);

it.skipIf(typeof parts !== "string")("says what to install where something is missing", async () => {
  const pool = { size: 2, idleMs: 1000 };
  const opened = await openPyodideTier({ peersFrom: peers, pool, clock: systemClock, log: silentLog });
  expect(opened).toMatchObject({
    reason: expect.stringContaining("cannot be found") as string,
    fix: ["npm install deno pyodide"],
  });
});
