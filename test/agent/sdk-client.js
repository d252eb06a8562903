// A small editor with the typed client of an SDK generation, named by its first argument: it starts the command behind that as its agent,
// opens a session, and leaves when it has answered the last request of acp-skills conformance.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { PassThrough, Readable, Writable } from "node:stream";
import * as stable from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import * as old from "@zed-industries/agent-client-protocol";

const [generation = "", program = "", ...args] = process.argv.slice(2);
const lastStep = "an empty list";
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const [received, sent] = [new PassThrough(), new PassThrough()];
agent.stdout.pipe(received);
sent.pipe(agent.stdin, { end: false });
const input = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(received));
const output = Writable.toWeb(sent);

/** @typedef {{ id?: unknown, method?: string, params?: { after?: string } }} Message */
/** @type {unknown} */
let lastId;
createInterface({ input: agent.stdout }).on("line", (line) => {
  if (!line.includes(lastStep)) return;
  /** @type {unknown} */
  const message = JSON.parse(line);
  const { id, params } = /** @type {Message} */ (message);
  if (params?.after === lastStep) lastId = id;
});
createInterface({ input: sent }).on("line", (line) => {
  /** @type {unknown} */
  const message = JSON.parse(line);
  const { id, method } = /** @type {Message} */ (message);
  if (method === undefined && id !== undefined && id === lastId) agent.stdin.end();
});

/** In the `_meta` that all generations keep. @type {object} */
const capabilities = { _meta: { "acp-skills": { commands: true } } };
const session = { cwd: "/project", mcpServers: [] };

switch (generation) {
  case "0.4.5": {
    const sessionUpdate = () => Promise.resolve();
    const requestPermission = () => Promise.resolve({ outcome: { outcome: /** @type {const} */ ("cancelled") } });
    const stream = old.ndJsonStream(output, input);
    const editor = new old.ClientSideConnection(() => ({ sessionUpdate, requestPermission }), stream);
    await editor.initialize({ protocolVersion: 1, clientCapabilities: capabilities });
    await editor.newSession(session);
    break;
  }
  case "2.4 v1": {
    const app = stable.client({ name: "sdk-client" }).onNotification("session/update", () => undefined);
    const editor = app.connect(stable.ndJsonStream(output, input)).agent;
    await editor.request("initialize", { protocolVersion: 1, clientCapabilities: capabilities });
    await editor.request("session/new", session);
    break;
  }
  case "2.4 v2": {
    const app = v2.client({ name: "sdk-client" }).onNotification("session/update", () => undefined);
    const editor = app.connect(v2.ndJsonStream(output, input)).agent;
    const info = { name: "sdk-client", version: "1" };
    await editor.request("initialize", { protocolVersion: 2, info, capabilities });
    await editor.request("session/new", session);
    break;
  }
  default:
    throw new Error(`unknown generation ${generation}`);
}
