import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { measureBlob, measureStreaming } from "./blobs.js";
import { writeCorpus } from "./corpus.js";
import { alternate, percentile, summarise, summariseRatio } from "./measure.js";
import { openEcho, openMcpCaller } from "./mcp-caller.js";
import { openTools } from "./open-tools.js";
import { parseJson } from "./parse-json.js";
import { runProcess } from "./run-process.js";

/** @import { Bench } from "./main.js" */
/** @import { OpenTools } from "./open-tools.js" */
/** @import { Row } from "./report.js" */

const megabyte = 1024 * 1024;
const program = fileURLToPath(new URL("processes/calling.js", import.meta.url));

/**
 * Measures the tools: the time of a call, in process and over MCP, and the memory retained after many calls.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureTools({ folder, samples }) {
  const { root } = writeCorpus(folder, samples, 10_000);
  const tools = await openTools(root, join(folder, "data"));
  const rows = [...(await measureList(tools)), ...(await measureBlob(tools, folder))];
  await tools.close();
  return [
    ...rows,
    ...(await measureDescribe(folder)),
    await measureStreaming(folder),
    ...(await measureMany(folder, root)),
  ];
}

/**
 * Measures pages of 50 rows from the whole list.
 * @param {OpenTools} tools
 * @returns {Promise<Row[]>}
 */
async function measureList(tools) {
  const pages = await readCursors(tools);
  const caller = await openMcpCaller(tools);
  const echo = await openEcho(JSON.stringify(await tools.call("list_skills", pages[0] ?? {})));
  const each = (/** @type {(page: object) => Promise<unknown>} */ ask) => () => medianOf(pages, ask);
  const runs = await alternate(
    {
      inProcess: each((page) => tools.call("list_skills", page)),
      overHttp: each((page) => caller.call("list_skills", page)),
      echo: each((page) => echo.ask(page)),
    },
    15,
  );
  await Promise.all([caller.close(), echo.close()]);
  const what = "list_skills, a summary of 50 of 10,000 skills";
  const [inProcess, overHttp] = [summarise(runs.inProcess), summarise(runs.overHttp)];
  return [
    {
      what: `${what}, in process, p50 of ${pages.length}`,
      unit: "ms",
      ours: inProcess,
      target: "p50 ≤ 0.2 ms",
      holds: inProcess.median <= 0.2,
    },
    {
      what: `${what}, over MCP HTTP, p50 of ${pages.length}`,
      unit: "ms",
      ours: overHttp,
      floor: { is: "node:http that answers the page as plain JSON", value: summarise(runs.echo) },
      ratio: summariseRatio(runs.overHttp, runs.echo),
      target: "p50 ≤ 3 ms",
      holds: overHttp.median <= 3,
    },
  ];
}

/**
 * The input for every page of the list.
 * @param {OpenTools} tools
 */
async function readCursors(tools) {
  const base = { detail: "summary", limit: 50 };
  /** @type {object[]} */
  const pages = [base];
  for (let page = /** @type {object} */ (base); ; pages.push(page)) {
    const { next_cursor: cursor } = /** @type {{ next_cursor: string | null }} */ (
      await tools.call("list_skills", page)
    );
    if (cursor === null) return pages;
    page = { ...base, cursor };
  }
}

/**
 * @param {readonly object[]} inputs
 * @param {(input: object) => Promise<unknown>} ask
 */
async function medianOf(inputs, ask) {
  const times = [];
  for (const input of inputs) {
    const started = performance.now();
    await ask(input);
    times.push(performance.now() - started);
  }
  return percentile(times, 0.5);
}

/**
 * Measures a skill with 100 files, first with tools that have not read it before.
 * @param {string} folder
 * @returns {Promise<Row[]>}
 */
async function measureDescribe(folder) {
  const root = join(folder, "described");
  const directory = join(root, "many-files");
  mkdirSync(join(directory, "references"), { recursive: true });
  writeFileSync(join(directory, "SKILL.md"), "---\nname: many-files\ndescription: Has a hundred files.\n---\n");
  for (let file = 1; file < 100; file++)
    writeFileSync(join(directory, "references", `${file}.md`), randomBytes(10_000).toString("hex"));
  await pause(100); // Recently written files are not cached.
  const first = async () => {
    const tools = await openTools(root, join(folder, "data-described"));
    const describe = async () => {
      const started = performance.now();
      await tools.call("describe_skill", { name: "many-files" });
      return performance.now() - started;
    };
    const cold = await describe();
    const again = [];
    for (let call = 0; call < 50; call++) again.push(await describe());
    await tools.close();
    return [cold, percentile(again, 0.5)];
  };
  const floor = () => {
    const started = performance.now();
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files)
      createHash("sha256")
        .update(readFileSync(join(parentPath, name)))
        .digest("hex");
    return Promise.resolve([performance.now() - started]);
  };
  const runs = await alternate({ first, floor }, 15);
  const cold = runs.first.map(([time = Number.NaN]) => time);
  const floors = runs.floor.map(([time = Number.NaN]) => time);
  const ratio = summariseRatio(cold, floors);
  const again = summarise(runs.first.map(([, time = Number.NaN]) => time));
  return [
    {
      what: "describe_skill, a summary of a skill with 100 files, first",
      unit: "ms",
      ours: summarise(cold),
      floor: { is: "reading and hashing those files", value: summarise(floors) },
      ratio,
      target: "≤ 3 × floor",
      holds: ratio.median <= 3,
    },
    { what: "the same, repeated, p50 of 50", unit: "ms", ours: again, target: "≤ 1 ms", holds: again.median <= 1 },
  ];
}

/**
 * @param {string} folder
 * @param {string} root
 * @returns {Promise<Row[]>}
 */
async function measureMany(folder, root) {
  /** @type {Buffer[]} */
  const chunks = [];
  const args = ["--expose-gc", program, root, join(folder, "data-many")];
  const { exitCode } = await runProcess(args, { onOutput: (chunk) => chunks.push(chunk) });
  if (exitCode !== 0) throw new Error(`calling.js exited with ${exitCode}.`);
  const found = /** @type {{ failed: number, perSecond: number, grownBytes: number }} */ (
    parseJson(Buffer.concat(chunks).toString())
  );
  const grown = summarise([found.grownBytes / megabyte]);
  return [
    {
      what: "64 concurrent callers, 10,000 calls of all tools: failed calls",
      unit: "calls",
      ours: summarise([found.failed]),
      target: "0",
      holds: found.failed === 0,
      note: `${Math.round(found.perSecond).toLocaleString("en")} calls per second`,
    },
    { what: "heap growth after 100,000 calls", unit: "MB", ours: grown, target: "≤ 5 MB", holds: grown.median <= 5 },
  ];
}
