import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseJson } from "../bench/parse-json.js";

/** @import { Ran } from "./record.js" */
/** @import { ChildProcessByStdio } from "node:child_process" */
/** @import { Readable, Writable } from "node:stream" */

const bin = fileURLToPath(new URL("../../.build/cli/main.js", import.meta.url));

/**
 * A process of ours whose walks are counted.
 * @typedef {object} Recorded
 * @property {ChildProcessByStdio<Writable, Readable, Readable>} child
 * @property {(act: () => Promise<unknown>) => Promise<Ran>} walk the files that ran because of an action, in all threads
 * @property {() => Promise<void>} close
 */

let opened = 0;

/**
 * @param {readonly string[]} args of acp-skills
 * @param {{ folder: string, cwd: string }} places
 * @returns {Recorded}
 */
export function openRecorded(args, { folder, cwd }) {
  const socket = path.join(folder, `walks-${++opened}`);
  const child = spawn(process.execPath, ["--import", new URL("record.js", import.meta.url).href, bin, ...args], {
    cwd,
    env: environmentOf(folder, { WALKS_SOCKET: socket }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  /** @returns {Promise<Ran>} */
  async function take() {
    const connection = connect(socket).setEncoding("utf8");
    connection.write("take\n");
    /** @type {unknown[]} */
    const read = await once(createInterface({ input: connection }), "line");
    connection.destroy();
    return /** @type {Ran} */ (parseJson(String(read[0])));
  }
  /** What still runs belongs to the action before. @returns {Promise<Ran>} */
  async function settle() {
    /** @type {Ran} */
    const ran = {};
    for (let quiet = 0; quiet < 2;) {
      const more = Object.entries(await take());
      quiet = more.length === 0 ? quiet + 1 : 0;
      for (const [file, called] of more) ran[file] = [...new Set([...(ran[file] ?? []), ...called])];
      await pause(60);
    }
    return ran;
  }
  return {
    child,
    async walk(act) {
      await settle();
      await act();
      return settle();
    },
    async close() {
      const closed = once(child, "close");
      child.stdin.end();
      child.kill("SIGINT");
      await closed;
    },
  };
}

/**
 * A command that ends by itself: the files of which it called a function.
 * @param {readonly string[]} args
 * @param {{ folder: string, cwd: string }} places
 * @returns {Promise<Ran>}
 */
export async function walkOfCommand(args, { folder, cwd }) {
  const child = spawn(process.execPath, ["--import", new URL("record.js", import.meta.url).href, bin, ...args], {
    cwd,
    env: environmentOf(folder, { WALKS_AT_EXIT: "1" }),
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let text = "";
  let printed = "";
  /** @type {Readable} */ (child.stdio[3])
    .setEncoding("utf8")
    .on("data", (/** @type {string} */ part) => (text += part));
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding("utf8").on("data", (/** @type {string} */ part) => (printed += part));
  await once(child, "close");
  const code = child.exitCode;
  if (code !== 0) throw new Error(`acp-skills ${args.join(" ")} ended with ${String(code)}: ${printed}`);
  return /** @type {Ran} */ (parseJson(text));
}

/**
 * @param {string} folder
 * @param {Record<string, string>} more
 * @returns {NodeJS.ProcessEnv}
 */
function environmentOf(folder, more) {
  const home = path.join(folder, "home");
  return {
    PATH: process.env["PATH"],
    HOME: home,
    USERPROFILE: home,
    ACP_SKILLS_HOME: path.join(folder, "data"),
    ...more,
  };
}
