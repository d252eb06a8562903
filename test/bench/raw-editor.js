import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * An editor that processes raw bytes, so that it adds little to the measured time.
 * @typedef {object} RawEditor
 * @property {(method: string, params: unknown) => Promise<Buffer>} request resolves with the response line
 * @property {(method: string, params: unknown) => Promise<number>} flood resolves with the number of bytes before the response
 * @property {(see: (line: Buffer, arrived: number) => void) => void} onLine
 * @property {number} pid
 * @property {() => Promise<void>} close
 */

/**
 * Starts an agent or a wrapper.
 * @param {readonly string[]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} options
 * @returns {RawEditor}
 */
export function openRawEditor([file = "", ...args], { cwd, env } = {}) {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  /** @type {Map<string, (line: Buffer) => void>} */
  const waiting = new Map();
  /** @type {Buffer[]} */
  let parts = [];
  let ids = 0;
  /** @type {((line: Buffer, arrived: number) => void) | undefined} */
  let see;
  let take = takeLines;

  child.stdout.on("data", (/** @type {Buffer} */ chunk) => take(chunk));

  /** @param {Buffer} chunk */
  function takeLines(chunk) {
    const arrived = performance.now();
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
      deliver(line, arrived);
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }

  /**
   * @param {Buffer} line
   * @param {number} arrived
   */
  function deliver(line, arrived) {
    const [, id = ""] = /"id":("bench-\d+")/.exec(line.subarray(0, 200).toString("latin1")) ?? [];
    const resolve = waiting.get(id);
    if (resolve === undefined) see?.(line, arrived);
    else {
      waiting.delete(id);
      resolve(line);
    }
  }

  /**
   * @param {string} method
   * @param {unknown} params
   */
  function write(method, params) {
    const id = `bench-${++ids}`;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return `"${id}"`;
  }

  return {
    request(method, params) {
      const id = write(method, params);
      return new Promise((resolve) => void waiting.set(id, resolve));
    },
    async flood(method, params) {
      const id = Buffer.from(write(method, params));
      let bytes = 0;
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        take = (chunk) => {
          bytes += chunk.length;
          if (chunk.subarray(-300).includes(id)) resolve();
        };
      });
      take = takeLines;
      return bytes;
    },
    onLine(callback) {
      see = callback;
    },
    pid: child.pid ?? 0,
    async close() {
      const ended = once(child, "close");
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * Initializes and opens a session, like an editor.
 * @param {RawEditor} editor
 * @param {{ cwd: string, optIn: boolean }} options
 */
export async function openRawSession(editor, { cwd, optIn }) {
  const clientCapabilities = optIn ? { _meta: { "acp-skills": { commands: true } } } : {};
  await editor.request("initialize", { protocolVersion: 1, clientCapabilities });
  await editor.request("session/new", { cwd, mcpServers: [] });
}
