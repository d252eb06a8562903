import { expect, test } from "vitest";
import { sendMixedTraffic } from "../bench/mixed-traffic.js";
import { retainedHeap } from "../retained-heap.ts";
import { callerConfig, tokenOf } from "./caller-config.ts";
import { action, instruction, openServed } from "./open-served.ts";

const limits = { requestsPerMinute: 1e9, concurrentRequests: 1e6 };

/** The same for ten minutes: `npm run bench -- --only soak`. */
test("mixed traffic is answered as it should be, and leaves nothing in memory", { timeout: 60_000 }, async () => {
  const { url } = await openServed({
    skills: { ...instruction("alpha"), ...action("sum.up") },
    config: {
      access: { default: "public", public: [], restricted: [], private: [] },
      callers: [callerConfig("soak", { limits })],
    },
  });
  const target = { url, token: tokenOf("soak"), skill: "alpha" };
  expect(await sendMixedTraffic(target, 30)).toEqual([]);
  const before = retainedHeap();
  expect(await sendMixedTraffic(target, 60)).toEqual([]);
  expect((retainedHeap() - before) / 1024 / 1024).toBeLessThan(5);
});
