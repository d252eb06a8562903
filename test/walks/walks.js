import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { parseJson } from "../bench/parse-json.js";
import { openRecorded, walkOfCommand } from "./recorded.js";

/** @import { Ran } from "./record.js" */
/** @import { Recorded } from "./recorded.js" */

/** @typedef {{ name: string, url: string, headers: { name: string, value: string }[] }} McpServer */

/** The files of ours that run in one action, by the action's name. @typedef {Record<string, Ran>} Walks */

const agent = [process.execPath, fileURLToPath(new URL("walk-agent.js", import.meta.url))];

/**
 * Counts the walks through the wrapper: what runs each of several times, when what is loaded once is loaded.
 * @param {string} folder an empty directory
 * @returns {Promise<Walks>}
 */
export async function walkWrapper(folder) {
  const project = makeProject(folder);
  const place = path.join(folder, "agent");
  const listening = createServer();
  listening.listen(place);
  const connected = /** @type {Promise<[import("node:net").Socket]>} */ (once(listening, "connection"));
  const recorded = openRecorded(["--", ...agent, place], { folder, cwd: project });
  const editor = openEditor(recorded);
  editor.send({ id: "1", method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  const [[socket]] = await Promise.all([connected, editor.received('"id":"1"')]);
  const received = lines(createInterface({ input: socket }));
  editor.send({ id: "2", method: "session/new", params: { cwd: project, mcpServers: [] } });
  const opened = parseJson(await received('"session/new"'));
  const [server] = /** @type {{ mcpServers: [McpServer] }} */ (opened).mcpServers;
  await editor.received("available_commands_update");
  const call = mcpCaller(server);

  /** @type {Walks} */
  const walks = {};
  /**
   * @param {string} name
   * @param {() => Promise<unknown>} act
   */
  const count = async (name, act) => {
    await recorded.walk(act);
    // Directories above the project are watched: what other processes do there runs without any action.
    const idle = await recorded.walk(() => pause(500));
    // What runs beside an action by chance, such as a sweep or a watch that is still being set up, does not run each time.
    let always = without(idle, await recorded.walk(act));
    for (let stable = 0; stable < 3;) {
      const ran = await recorded.walk(act);
      const both = always.filter(([file]) => file in ran);
      stable = both.length < always.length ? 0 : stable + 1;
      always = both;
    }
    walks[name] = Object.fromEntries(always);
  };
  await call("list_skills", {});
  await count("message to the agent", async () => {
    editor.send({ method: "_walks/message", params: { text: "hello" } });
    await received("_walks/message");
  });
  await count("message to the editor", async () => {
    socket.write("say\n");
    await editor.received("It is sunny.");
  });
  let edits = 0;
  await count("edit of SKILL.md", async () => {
    writeSkill(project, `Cleans tables, edit ${++edits}.`);
    await editor.received(`edit ${edits}.`);
  });
  await count("list_skills", () => call("list_skills", {}));
  await count("run_code", () => call("run_code", { language: "python", code: "def main():\n    return 1\n" }));
  await count("blob of 8 MiB", async () => {
    const content = "x".repeat(8 * 1024 * 1024);
    const made = await call("create_blob", { content, kind: "text/plain" });
    const { blob_id } = /** @type {{ blob_id: string }} */ (made);
    await call("read_blob", { blob_id, mode: "full" });
  });
  await recorded.close();
  listening.close();
  return walks;
}

/**
 * Counts the walk of `acp-skills add URL NAME` from a server of ours, as a whole process.
 * @param {string} folder an empty directory
 * @returns {Promise<Walks>}
 */
export async function walkAdd(folder) {
  const project = makeProject(folder);
  const other = path.join(folder, "other");
  mkdirSync(other);
  const config = path.join(folder, "serve.json");
  writeFileSync(config, JSON.stringify({ access: { default: "public" } }));
  const skills = path.join(project, ".agents/skills");
  const served = openRecorded(["serve", "--skills", skills, "--config", config, "--port", "0"], {
    folder,
    cwd: project,
  });
  const url = await addressOf(served);
  const walks = { "add URL NAME": await walkOfCommand(["add", url, "table-cleaner", "-y"], { folder, cwd: other }) };
  await served.close();
  return walks;
}

/**
 * Counts the walks of the skill browser, in a real browser; none without one.
 * @param {string} folder an empty directory
 * @returns {Promise<Walks>}
 */
export async function walkBrowse(folder) {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (executablePath === undefined) return {};
  const project = makeProject(folder);
  const served = openRecorded(["browse", "--no-open"], { folder, cwd: project });
  const url = await addressOf(served);
  // Directories above the project are watched: what Chromium writes there would run in every walk.
  const own = path.join(folder, "chromium");
  mkdirSync(own);
  const chrome = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    env: { ...process.env, TMPDIR: own },
  });
  try {
    const page = await chrome.newPage();
    // The first sweep of blobs is two seconds after the start.
    await served.walk(() => pause(4_000));
    /** @type {Walks} */
    const walks = {};
    walks["browse, first page"] = await served.walk(async () => {
      await page.goto(url);
      await page.getByRole("option").first().waitFor();
    });
    const tabs = page.getByRole("navigation", { name: "About this skill" }).getByRole("link");
    walks["browse, one skill opened"] = await served.walk(async () => {
      await page.getByRole("option").first().click();
      await tabs.first().waitFor();
    });
    const count = await tabs.count();
    for (let place = 1; place < count; place++) {
      const name = (await tabs.nth(place).textContent())?.replace(/\d+$/, "");
      walks[`browse, tab ${name}`] = await served.walk(() => tabs.nth(place).click());
    }
    return walks;
  } finally {
    await chrome.close();
    await served.close();
  }
}

/**
 * The files of which other functions ran.
 * @param {Ran} idle
 * @param {Ran} ran
 */
function without(idle, ran) {
  const others = Object.entries(ran).map(([file, called]) => {
    return /** @type {const} */ ([file, called.filter((name) => idle[file]?.includes(name) !== true)]);
  });
  return others.filter(([, called]) => called.length > 0);
}

/** @param {string} folder */
function makeProject(folder) {
  const project = path.join(folder, "project");
  mkdirSync(path.join(folder, "home"), { recursive: true });
  mkdirSync(path.join(project, ".agents/skills/table-cleaner"), { recursive: true });
  writeSkill(project, "Cleans tables.");
  return project;
}

/**
 * Saves like most editors: to a new file, which then takes the place of the old one.
 * @param {string} project
 * @param {string} description
 */
function writeSkill(project, description) {
  const file = path.join(project, ".agents/skills/table-cleaner/SKILL.md");
  writeFileSync(
    `${file}~`,
    `---\nname: table-cleaner\ndescription: ${description}\n---\n\n# Clean\n\nDrop empty rows.\n`,
  );
  renameSync(`${file}~`, file);
}

/** @param {Recorded} recorded */
function openEditor({ child }) {
  child.stderr.resume();
  return {
    received: lines(createInterface({ input: child.stdout })),
    send: (/** @type {object} */ message) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
  };
}

/**
 * Waits for the next line with a text.
 * @param {import("node:readline").Interface} input
 * @returns {(text: string) => Promise<string>}
 */
function lines(input) {
  /** @type {string[]} */
  const unread = [];
  let wake = () => {};
  input.on("line", (line) => {
    unread.push(line);
    wake();
  });
  return async (text) => {
    for (;;) {
      for (let line = unread.shift(); line !== undefined; line = unread.shift()) if (line.includes(text)) return line;
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => (wake = resolve));
    }
  };
}

/** @param {McpServer} server */
function mcpCaller({ url, headers }) {
  const own = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  return async (/** @type {string} */ name, /** @type {object} */ input) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
    const response = await fetch(url, {
      method: "POST",
      headers: { ...own, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(message),
    });
    const text = await response.text();
    const { result } = /** @type {{ result?: { isError?: boolean, structuredContent?: unknown } }} */ (
      parseJson(/^data: ?(.*)$/m.exec(text)?.[1] ?? text)
    );
    if (result === undefined || result.isError === true) throw new Error(`${name} was refused: ${text}`);
    return result.structuredContent;
  };
}

/** @param {Recorded} recorded */
async function addressOf({ child }) {
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (/** @type {string} */ part) => (said += part));
  for (;;) {
    const [address] = /http:\/\/127\.0\.0\.1\S*(?=\s)/.exec(said) ?? [];
    if (address !== undefined) return address;
    await Promise.race([
      once(child.stdout, "data"),
      once(child.stderr, "data"),
      once(child, "close").then(() => Promise.reject(new Error(said))),
    ]);
  }
}
