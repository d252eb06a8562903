import { join } from "node:path";
import { writeCorpus } from "./corpus.js";
import { startServer } from "./http.js";
import { benchToken } from "./http-load.js";
import { summarise } from "./measure.js";
import { sendMixedTraffic } from "./mixed-traffic.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const minutes = Number(process.env["ACP_SKILLS_SOAK_MINUTES"] ?? 10);
const warmUpTimes = 200;
const mostGrownMegabytes = 10;

/**
 * Mixed traffic for ten minutes, or `ACP_SKILLS_SOAK_MINUTES`: what the server's heap has grown by since it was warm, and what was answered
 * otherwise than it should be.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureSoak({ folder, samples, say }) {
  const alpha = { name: "alpha", bytes: Buffer.from("---\nname: alpha\ndescription: Does alpha.\n---\n# Alpha\n") };
  const { root } = writeCorpus(folder, [alpha, ...samples], 200);
  const server = await startServer(["skills", root, join(folder, "data")]);
  const target = { url: server.url, token: benchToken, skill: "alpha-0" };
  const wrong = await sendMixedTraffic(target, warmUpTimes);
  const { heapBytes: before } = await server.usage();
  const end = performance.now() + minutes * 60_000;
  let times = 0;
  for (; performance.now() < end; times += 20) wrong.push(...(await sendMixedTraffic(target, 20)));
  const { heapBytes: after } = await server.usage();
  server.stop();
  for (const answer of new Set(wrong)) say(answer);
  const grown = summarise([(after - before) / 1024 / 1024]);
  return [
    {
      what: `mixed traffic for ${minutes} minutes: heap grown`,
      unit: "MB",
      ours: grown,
      target: `≤ ${mostGrownMegabytes} MB, no answer outside the stated limits`,
      holds: grown.median <= mostGrownMegabytes && wrong.length === 0,
      note: `${times} times every kind of request; ${wrong.length} wrong answers`,
    },
  ];
}
