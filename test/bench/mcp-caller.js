import { Agent, createServer, request } from "node:http";
import { once } from "node:events";
import { parseJson } from "./parse-json.js";

/** @import { AddressInfo } from "node:net" */
/** @import { OpenTools } from "./open-tools.js" */

/**
 * Calls tools over MCP HTTP on one persistent connection, like agents.
 * @param {OpenTools} tools
 * @returns {Promise<{ call: (tool: string, input: object) => Promise<void>, close: () => Promise<void> }>}
 */
export async function openMcpCaller({ openMcp }) {
  const address = await openMcp();
  if (!("url" in address)) throw new Error("the server is not reached over HTTP");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let id = 0;
  return {
    async call(tool, input) {
      const message = { jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name: tool, arguments: input } };
      const text = await post(
        agent,
        address.url,
        { ...address.headers, accept: "application/json, text/event-stream" },
        message,
      );
      const json = /^data: ?(.*)$/m.exec(text)?.[1] ?? text;
      const { result } = /** @type {{ result?: { isError?: boolean } }} */ (parseJson(json));
      if (result === undefined || result.isError === true) throw new Error(`${tool} was refused: ${text}`);
    },
    async close() {
      agent.destroy();
      await address.close();
    },
  };
}

/**
 * A server that responds with the same text to every request: the minimum cost of HTTP.
 * @param {string} text
 */
export async function openEcho(text) {
  const server = createServer((incoming, response) => {
    incoming.resume().on("end", () => response.setHeader("content-type", "application/json").end(text));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {AddressInfo} */ (server.address());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: (/** @type {object} */ message) => post(agent, `http://127.0.0.1:${port}/`, {}, message),
    async close() {
      agent.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

/**
 * @param {Agent} agent
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {object} message
 * @returns {Promise<string>}
 */
function post(agent, url, headers, message) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const all = { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request(url, { method: "POST", agent, headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => (text += chunk));
      response.on("end", () => resolve(text)).on("error", reject);
    })
      .on("error", reject)
      .end(body);
  });
}
