// 64 concurrent callers: prints {"failed", "perSecond", "grownBytes"}. calling.js ROOT DATA_DIRECTORY, with --expose-gc
import { openTools } from "../open-tools.js";

const [, , root = "", data = ""] = process.argv;
const callers = 64;
const tools = await openTools(root, data);

const { skills } = /** @type {{ skills: { name: string }[] }} */ (await tools.call("list_skills", { limit: 200 }));
const { blob_id: blob } = /** @type {{ blob_id: string }} */ (
  await tools.call("create_blob", { content: "x".repeat(10_000), kind: "text/plain" })
);
const nameOf = (/** @type {number} */ call) => skills[call % skills.length]?.name ?? "";
/** @type {((call: number) => Promise<unknown>)[]} */
const kinds = [
  () => tools.call("list_skills", { detail: "summary" }),
  (call) => tools.call("describe_skill", { name: nameOf(call) }),
  (call) => tools.call("read_skill_file", { name: nameOf(call), path: "SKILL.md" }),
  () => tools.call("read_blob", { blob_id: blob }),
  () => tools.call("load_skills_protocol_guide", {}),
  // Blobs are created rarely: at most 20,000 can exist, and each is synced to disk.
  (call) =>
    call % 606 === 5
      ? tools.call("create_blob", { content: `${call}`, kind: "text/plain" })
      : tools.call("list_skills", {}),
];

/**
 * @param {number} total
 * @returns {Promise<number>} how many failed
 */
async function callAll(total) {
  let next = 0;
  let failed = 0;
  const caller = async () => {
    while (next < total) {
      const call = next++;
      try {
        await kinds[call % kinds.length]?.(call);
      } catch {
        failed++; // Counted, and reported at the end.
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return failed;
}

async function heapUsed() {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}

const started = performance.now();
let failed = await callAll(10_000);
const perSecond = 10_000 / ((performance.now() - started) / 1000);
const before = await heapUsed();
failed += await callAll(100_000);
const grownBytes = (await heapUsed()) - before;
await tools.close();
process.stdout.write(JSON.stringify({ failed, perSecond, grownBytes }));
