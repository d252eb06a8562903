// npm run bench [-- --corpus DIR] [--only NAME] [--json]: prints each figure with its floor or peer, as a ratio from one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureApprovals } from "./approvals.js";
import { measureClusterBlobs } from "./cluster-blobs.js";
import { measureClusterRuns } from "./cluster-runs.js";
import { measureClusterCatalog } from "./cluster-catalog.js";
import { readSamples } from "./corpus.js";
import { measureEdits } from "./edits.js";
import { measureHostile } from "./hostile.js";
import { measureHttp } from "./http.js";
import { measureLargeList } from "./large-list.js";
import { measureListing } from "./list.js";
import { measureMemory } from "./memory.js";
import { measurePage } from "./page.js";
import { measurePassThrough } from "./pass-through.js";
import { measureProxy } from "./proxy.js";
import { describeLoad, toLine, toMarkdown } from "./report.js";
import { measureRunning } from "./running.js";
import { measureSignatures } from "./signatures.js";
import { measureSoak } from "./soak.js";
import { measureStart } from "./start.js";
import { measureStore } from "./store.js";
import { measureTools } from "./tools.js";
import { measureWatching } from "./watch.js";

/** @import { Sample } from "./corpus.js" */
/** @import { Row } from "./report.js" */

/**
 * The input of a figure.
 * @typedef {object} Bench
 * @property {string} folder a temporary directory, removed at the end
 * @property {readonly Sample[]} samples
 * @property {string} bin the measured command
 * @property {(sentence: string) => void} say
 */

/** @type {Record<string, (bench: Bench) => Promise<Row[]>>} */
const figures = {
  list: measureListing,
  watch: measureWatching,
  edits: measureEdits,
  "large-list": measureLargeList,
  hostile: measureHostile,
  memory: measureMemory,
  "pass-through": measurePassThrough,
  page: measurePage,
  proxy: measureProxy,
  start: measureStart,
  tools: measureTools,
  running: measureRunning,
  approvals: measureApprovals,
  http: measureHttp,
  store: measureStore,
  signatures: measureSignatures,
  "cluster-blobs": measureClusterBlobs,
  "cluster-runs": measureClusterRuns,
  "cluster-catalog": measureClusterCatalog,
  soak: measureSoak,
};

const { values } = parseArgs({
  options: { corpus: { type: "string" }, only: { type: "string" }, json: { type: "boolean", default: false } },
});
const chosen = Object.entries(figures).filter(([name]) => values.only === undefined || values.only === name);
if (chosen.length === 0) throw new Error(`--only takes one of ${Object.keys(figures).join(", ")}.`);

const folder = mkdtempSync(join(tmpdir(), "acp-skills-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => process.exit(1));

const say = (/** @type {string} */ sentence) => void process.stderr.write(`  ${sentence}\n`);
const busy = describeLoad();
const samples = readSamples(values.corpus);
const bin = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
/** @type {Row[]} */
const rows = [];
for (const [name, measure] of chosen) {
  process.stderr.write(`${name}\n`);
  const own = mkdtempSync(join(folder, `${name}-`));
  const found = await measure({ folder: own, samples, bin, say });
  rmSync(own, { recursive: true });
  for (const row of found) say(toLine(row));
  rows.push(...found);
}

const input = `skills made from ${samples.length.toLocaleString("en")} ${values.corpus === undefined ? "invented" : "real"} ones${busy}`;
process.stdout.write(values.json ? `${JSON.stringify(rows, undefined, 2)}\n` : `\n${toMarkdown(rows, input)}`);
// Exit explicitly: a child process that did not exit would keep this one alive.
process.exit();
