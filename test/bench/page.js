import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { chromium } from "playwright-core";
import { writeCorpus } from "./corpus.js";
import { memoryOf } from "./memory.js";
import { percentile, summarise, summariseRatio } from "./measure.js";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Browser, Cookie, Page } from "playwright-core" */
/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const rounds = 10;
const edits = 40;
/** Typed letter by letter, then deleted in one go. */
const queries = ["pdf", "kubernetes deploy", "the review of code", "azuer functions", "data analysis python", "zzzz"];

/**
 * Measures the skill browser in Chromium, over the real server: first row painted, keystrokes, changes on disk.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measurePage({ folder, samples, bin, say }) {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (executablePath === undefined) {
    say("There is no Chromium here: the page is not measured.");
    return [];
  }
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const floor = await serveOneRow();
    /** @type {Row[]} */
    const rows = [];
    for (const [count, target] of /** @type {const} */ ([
      [1_000, 500],
      [10_000, 1_000],
    ])) {
      const { root } = writeCorpus(folder, samples, count);
      const server = await startBrowse(browser, { bin, folder, root });
      rows.push(await measurePaint({ browser, server, floor: floor.address, count, target }));
      if (count === 10_000) rows.push(await measureKeystrokes(browser, server), ...memoryOfServer(server.child));
      else rows.push(await measureChanges(browser, server, root));
      server.child.kill("SIGINT");
      await server.closed;
    }
    floor.close();
    return rows;
  } finally {
    await browser.close();
  }
}

/**
 * Reads `/proc`, so Linux only.
 * @param {ChildProcess} child
 * @returns {Row[]}
 */
function memoryOfServer({ pid }) {
  if (process.platform !== "linux" || pid === undefined) return [];
  const { now, peak } = memoryOf(pid);
  return [
    {
      what: "memory of `browse` with 10,000 skills, after the page was used",
      unit: "MB",
      ours: summarise([now]),
      target: "≤ 250 MB",
      holds: now <= 250,
      note: `peak ${peak.toFixed(0)} MB`,
    },
  ];
}

/**
 * @param {{ browser: Browser, server: Server, floor: string, count: number, target: number }} options
 * @returns {Promise<Row>}
 */
async function measurePaint({ browser, server, floor, count, target }) {
  await paint(browser, server.address, server.signedIn);
  /** @type {number[]} */
  const ours = [];
  /** @type {number[]} */
  const floors = [];
  for (let round = 0; round < rounds; round++) {
    floors.push(await paint(browser, floor));
    ours.push(await paint(browser, server.address, server.signedIn));
  }
  const found = summarise(ours);
  return {
    what: `navigation → first row painted, ${count.toLocaleString("en")} skills, new browser profile`,
    unit: "ms",
    ours: found,
    floor: { is: "the same browser painting a static page of one row", value: summarise(floors) },
    ratio: summariseRatio(ours, floors),
    target: `≤ ${target} ms`,
    holds: found.median <= target,
  };
}

/**
 * The time from the start of the navigation until the frame with the first row was presented.
 * @param {Browser} browser
 * @param {string} address
 * @param {SignedIn} [signedIn]
 */
async function paint(browser, address, signedIn) {
  const context = await newContext(browser, signedIn);
  try {
    const page = await context.newPage();
    await page.addInitScript(() => {
      const look = () => {
        const root = document.querySelector("acp-skill-browser")?.shadowRoot ?? document;
        if (root.querySelector("[role=option]") === null) requestAnimationFrame(look);
        // The callback runs before its frame is painted; a task after it runs when it is.
        else requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { painted: performance.now() })));
      };
      requestAnimationFrame(look);
    });
    await page.goto(address, { waitUntil: "commit" });
    await page.waitForFunction(() => Reflect.get(globalThis, "painted") !== undefined, undefined, { polling: 50 });
    return await page.evaluate(() => Number(Reflect.get(globalThis, "painted")));
  } finally {
    await context.close();
  }
}

/**
 * @param {Browser} browser
 * @param {Server} server
 * @returns {Promise<Row>}
 */
async function measureKeystrokes(browser, server) {
  const page = await openPage(browser, server);
  /** @type {number[]} */
  const found = [];
  for (const round of [0, 1, 2])
    for (const query of queries) {
      const times = await page.evaluate(typeInto, query);
      if (round > 0) found.push(...times);
    }
  await page.context().close();
  const p95 = percentile(found, 0.95);
  return {
    what: "keystroke → filtered list painted, 10,000 skills: p95",
    unit: "ms",
    ours: { ...summarise(found), median: p95 },
    target: "p95 ≤ 30 ms",
    holds: p95 <= 30,
    note: `p50 ${percentile(found, 0.5).toFixed(1)} ms of ${found.length}`,
  };
}

/**
 * Runs in the page: types letter by letter; each time is from the input event until the frame that it caused was presented, without the
 * wait for the next frame to begin.
 * @param {string} query
 */
async function typeInto(query) {
  const root = document.querySelector("acp-skill-browser")?.shadowRoot;
  const input = root?.querySelector("input");
  if (!(input instanceof HTMLInputElement) || root == null) throw new Error("There is no search field.");
  const rows = root;
  const field = input;
  /** @type {number[]} */
  const times = [];
  for (let length = 1; length <= query.length + 1; length++) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    times.push(await type(length > query.length ? "" : query.slice(0, length)));
  }
  return times;

  /** @param {string} text */
  async function type(text) {
    const start = performance.now();
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    // Rendering is queued as a microtask; then style and layout are forced, as the frame does.
    await Promise.resolve();
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      requestAnimationFrame(() => port2.postMessage(undefined));
    });
    rows.querySelector(".runway")?.getBoundingClientRect();
    return performance.now() - start;
  }
}

/**
 * @param {Browser} browser
 * @param {Server} server
 * @param {string} root
 * @returns {Promise<Row>}
 */
async function measureChanges(browser, server, root) {
  const directory = join(root, "aaa-edited");
  const file = join(directory, "SKILL.md");
  mkdirSync(directory);
  const write = (/** @type {string} */ text) => {
    writeFileSync(file, `---\nname: aaa-edited\ndescription: ${text}\n---\n\nText.\n`);
  };
  write("Edit none.");
  const page = await openPage(browser, server);
  /** @type {number[]} */
  const found = [];
  for (let edit = -3; edit < edits; edit++) {
    const seen = page.evaluate(whenSeen, `Edit ${edit}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = performance.timeOrigin + performance.now();
    write(`Edit ${edit}.`);
    const at = await seen;
    if (edit >= 0) found.push(at - start);
  }
  await page.context().close();
  const value = summarise(found);
  return {
    what: "change on disk → visible in the page, one of 1,000 skills",
    unit: "ms",
    ours: value,
    target: "p50 ≤ 100 ms",
    holds: value.median <= 100,
    note: `p95 ${percentile(found, 0.95).toFixed(0)} ms of ${edits}`,
  };
}

/**
 * Runs in the page: the time at which the first frame with this text in the list was presented.
 * @param {string} text
 * @returns {Promise<number>}
 */
function whenSeen(text) {
  const root = document.querySelector("acp-skill-browser")?.shadowRoot;
  return new Promise((resolve) => {
    const look = () => {
      if (root?.querySelector(".rows")?.textContent.includes(text) === true) setTimeout(() => resolve(Date.now()));
      else requestAnimationFrame(look);
    };
    look();
  });
}

/**
 * @param {Browser} browser
 * @param {Server} server
 * @returns {Promise<Page>}
 */
async function openPage(browser, { address, signedIn }) {
  const context = await newContext(browser, signedIn);
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("option").first().waitFor();
  return page;
}

/**
 * A new browser profile.
 * @param {Browser} browser
 * @param {SignedIn} [signedIn]
 */
async function newContext(browser, { cookies, stored } = { cookies: [], stored: [] }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies(cookies);
  await context.addInitScript((items) => {
    for (const [key, value] of items) sessionStorage.setItem(key, value);
  }, stored);
  return context;
}

/**
 * What a browser that has signed in keeps: cookies, and the items of its sessionStorage.
 * @typedef {{ cookies: Cookie[], stored: [string, string][] }} SignedIn
 */

/**
 * @typedef {object} Server
 * @property {ChildProcess} child
 * @property {string} address without a code
 * @property {SignedIn} signedIn
 * @property {Promise<unknown>} closed
 */

/**
 * Starts the command and signs in; it has read the skills then.
 * @param {Browser} browser
 * @param {{ bin: string, folder: string, root: string }} options
 * @returns {Promise<Server>}
 */
async function startBrowse(browser, { bin, folder, root }) {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const child = spawn(process.execPath, [bin, "browse", "--no-open", "--no-default-roots", "--skills", root], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  /** @type {string} */
  const address = await new Promise((resolve, reject) => {
    const listen = (/** @type {Buffer} */ text) => {
      said += text.toString();
      const [found] = /http:\/\/\S+(?=\s)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    void closed.then(() => reject(new Error(`browse ended: ${said}`)));
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("option").first().waitFor();
  const cookies = await context.cookies();
  const stored = await page.evaluate(() =>
    Array.from({ length: sessionStorage.length }, (_, place) => sessionStorage.key(place) ?? "").map(
      (key) => /** @type {[string, string]} */ ([key, sessionStorage.getItem(key) ?? ""]),
    ),
  );
  await context.close();
  return { child, closed, address: new URL("/", address).href, signedIn: { cookies, stored } };
}

/** The least that a browser would have to do. */
async function serveOneRow() {
  const html = `<!doctype html><meta charset="utf-8"><title>One</title><link rel="icon" href="data:,"><div role="option">One row</div>`;
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(html);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The floor does not listen.");
  return {
    address: `http://127.0.0.1:${address.port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
