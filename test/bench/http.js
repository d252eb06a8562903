import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { benchToken } from "./http-load.js";
import { alternate, summarise, summariseRatio } from "./measure.js";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Answers, Load } from "./http-load.js" */
/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const connections = 64;
const seconds = 3;
const rounds = 5;

/**
 * Requests a second and processor time of the server for each, beside those of a route that answers `{"hello":"world"}`, round by round. The
 * client needs as much time as the server, so that processor time says more than requests a second.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureHttp({ folder, samples, say }) {
  const [hello, large, middle] = await Promise.all([
    startServer(["hello"]),
    startServer(["skills", writeCorpus(folder, samples, 10_000).root, join(folder, "data-large")]),
    startServer(["skills", writeCorpus(folder, samples, 1_000).root, join(folder, "data-middle")]),
  ]);
  const load = await startProcess("./http-load.js", []);
  const authorization = `Bearer ${benchToken}`;
  const index = `${middle.url}/.well-known/skill-sharing`;
  const etag = (await fetch(index, { headers: { authorization } })).headers.get("etag") ?? "";
  const call = { jsonrpc: "2.0", id: 1, method: "list_skills", params: { limit: 50 } };
  /** @type {(server: Server, load: Omit<Load, "seconds" | "connections">, status: number) => () => Promise<Measured>} */
  const subject = (server, given, status) => () => measure(server, load.process, given, status);
  const measured = await alternate(
    {
      hello: subject(hello, { url: hello.url }, 200),
      list: subject(
        large,
        {
          url: `${large.url}/rpc`,
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify(call),
        },
        200,
      ),
      unchanged: subject(middle, { url: index, headers: { authorization, "if-none-match": etag } }, 304),
      whole: subject(middle, { url: index, headers: { authorization } }, 200),
    },
    rounds,
  );
  for (const { stop } of [hello, large, middle, load]) stop();
  const floor = { is: "a hono route that answers hello", value: summarise(persecond(measured.hello)) };
  /** @type {(what: string, runs: readonly Measured[], least?: number) => Row} */
  const row = (what, runs, least) => {
    const ratio = summariseRatio(persecond(runs), persecond(measured.hello));
    const cost = summariseRatio(cpu(measured.hello), cpu(runs));
    const [own, bare] = [summarise(cpu(runs)), summarise(cpu(measured.hello))];
    return {
      what,
      unit: "/s",
      ours: summarise(persecond(runs)),
      floor,
      ratio,
      ...(least !== undefined && { target: `≥ ${least} ×`, holds: ratio.median >= least }),
      note:
        `server ${own.min.toFixed(0)} µs a request, hello ${bare.min.toFixed(0)} µs: ${cost.median.toFixed(2)} × by processor time; ` +
        `p99 ${Math.max(...runs.map(({ p99Ms }) => p99Ms))} ms`,
    };
  };
  const rows = [
    row("`list_skills` at `/rpc`: 50 names of 10,000 skills, 64 connections", measured.list, 0.6),
    row("`/.well-known/skill-sharing`, 1,000 skills: 304", measured.unchanged, 0.8),
    row("the same: 200", measured.whole),
  ];
  say(`${rounds} rounds of ${seconds} s`);
  return rows;
}

/** @typedef {{ readonly perSecond: number, readonly cpuMicroseconds: number, readonly p99Ms: number }} Measured */

/** @param {readonly Measured[]} runs */
function persecond(runs) {
  return runs.map(({ perSecond }) => perSecond);
}

/** @param {readonly Measured[]} runs */
function cpu(runs) {
  return runs.map(({ cpuMicroseconds }) => cpuMicroseconds);
}

/**
 * @param {Server} server
 * @param {ChildProcess} load
 * @param {Omit<Load, "seconds" | "connections">} given
 * @param {number} status
 * @returns {Promise<Measured>}
 */
async function measure(server, load, given, status) {
  const before = await server.usage();
  const { answered, failed, p99Ms, statuses } = /** @type {Answers} */ (
    await ask(load, { ...given, seconds, connections })
  );
  const after = await server.usage();
  if (failed > 0 || statuses[status] !== answered)
    throw new Error(`${given.url}: ${failed} failed, answered ${JSON.stringify(statuses)}`);
  const used = after.cpuMicroseconds - before.cpuMicroseconds;
  return { perSecond: answered / seconds, cpuMicroseconds: used / answered, p99Ms };
}

/** @typedef {{ readonly cpuMicroseconds: number, readonly heapBytes: number }} Usage */
/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/**
 * @param {readonly string[]} args of `http-server.js`
 */
export async function startServer(args) {
  const { process: server, first, stop } = await startProcess("./http-server.js", args);
  const { url } = /** @type {{ url: string }} */ (first);
  return { url, stop, usage: async () => /** @type {Usage} */ (await ask(server, "usage")) };
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 */
async function startProcess(file, args) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: ["--expose-gc"] });
  const first = await next(child);
  return { process: child, first, stop: () => void child.kill() };
}

/**
 * @param {ChildProcess} child
 * @param {string | object} question
 */
async function ask(child, question) {
  const answer = next(child);
  child.send(question);
  return await answer;
}

/**
 * The next message; rejects if the process ends instead.
 * @param {ChildProcess} child
 * @returns {Promise<unknown>}
 */
async function next(child) {
  const stop = new AbortController();
  const ended = once(child, "exit", { signal: stop.signal }).then(() => {
    throw new Error("a measured process ended");
  });
  try {
    const messages = /** @type {unknown[]} */ (
      await Promise.race([once(child, "message", { signal: stop.signal }), ended])
    );
    return messages[0];
  } finally {
    ended.catch(() => undefined);
    stop.abort();
  }
}
