import { performance } from "node:perf_hooks";
import { createSkillsStore, openSearch } from "acp-skills/client";
import { percentile, summarise, summariseRatio } from "./measure.js";
import { parseJson } from "./parse-json.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const count = 10_000;
const rounds = 30;
/** Typed letter by letter. */
const queries = [
  "pdf",
  "kubernetes deploy",
  "the review of code",
  "azuer functions",
  "e",
  "data analysis python",
  "zzzz",
];

/**
 * Measures what an editor pays: applying a list of 10,000 skills, and searching it at each keystroke.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export function measureStore({ samples }) {
  const texts = [toUpdate(samples, "a"), toUpdate(samples, "b")];
  const store = createSkillsStore();
  /** @type {number[]} */
  const parsing = [];
  /** @type {number[]} */
  const applying = [];
  for (let round = -5; round < rounds; round++) {
    // Other descriptions in every round, so that no skill stays as it was.
    const [message, parsed] = timed(() => parseJson(texts[Math.abs(round) % 2] ?? ""));
    const [, applied] = timed(() => store.receive(message));
    if (round < 0) continue;
    parsing.push(parsed);
    applying.push(applied);
  }
  const apply = summarise(applying);
  if (store.skills.length !== count) throw new Error(`The store kept ${store.skills.length} of ${count} skills.`);

  /** @type {number[]} */
  const keystrokes = [];
  /** @type {number[]} */
  const scans = [];
  const descriptions = store.skills.map(({ description }) => description.toLowerCase());
  for (let round = 0; round < 5; round++)
    for (const query of queries) {
      const search = openSearch(store.skills);
      search("warm");
      for (let length = 1; length <= query.length; length++) {
        const typed = query.slice(0, length);
        keystrokes.push(timed(() => search(typed))[1]);
        scans.push(timed(() => descriptions.filter((text) => text.includes(typed)))[1]);
      }
    }
  const p95 = percentile(keystrokes, 0.95);
  return Promise.resolve([
    {
      what: "store: apply an update of 10,000 skills",
      unit: "ms",
      ours: apply,
      floor: { is: "JSON.parse of the same message", value: summarise(parsing) },
      ratio: summariseRatio(applying, parsing),
      target: "≤ 30 ms",
      holds: apply.median <= 30,
    },
    {
      what: "store: search 10,000 descriptions at a keystroke",
      unit: "ms",
      ours: summarise(keystrokes),
      floor: { is: "one `includes` on each description", value: summarise(scans) },
      ratio: summariseRatio(keystrokes, scans),
      target: "p95 ≤ 8 ms",
      holds: p95 <= 8,
      note: `p95 ${p95.toFixed(1)} ms`,
    },
  ]);
}

/**
 * @param {Bench["samples"]} samples
 * @param {string} mark
 */
function toUpdate(samples, mark) {
  const availableSkills = Array.from({ length: count }, (_, index) => {
    const { name = "skill", bytes } = samples[index % samples.length] ?? {};
    const words = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const slug = words.slice(0, 50).replace(/^-|-$/g, "");
    const [, described = ""] = /^description:\s*(.*)$/m.exec(bytes?.toString("utf8", 0, 4096) ?? "") ?? [];
    const description = `${mark} ${described}`.slice(0, 1000);
    const ours = { name: slug, version: "0.0.0", kind: "instruction", namespace: slug, source: "/skills" };
    return { name: `${slug || "skill"}-${index}`, description, _meta: { "acp-skills": ours } };
  });
  const update = { sessionUpdate: "available_skills_update", availableSkills };
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
}

/**
 * @template Result
 * @param {() => Result} work
 * @returns {[Result, number]}
 */
function timed(work) {
  const start = performance.now();
  const result = work();
  return [result, performance.now() - start];
}
