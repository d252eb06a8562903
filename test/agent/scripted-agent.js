// A deterministic agent for tests, without an SDK: it executes the sentences of a prompt in order.
//
//   say TEXT           one message chunk           update N       N message chunks of 300 bytes
//   echo               the prompt's blocks, as JSON   huge N         one message chunk of N characters
//   commands A B …     its list of commands        raw TEXT       TEXT as a line, unchanged
//   die CODE           ends with this exit code    kill SIGNAL    ends itself by this signal
//   silent             never answers this prompt      tool NAME JSON   calls a tool of the MCP server "skills" and says the result
//   permit NAME JSON   asks for permission to call the tool NAME of that server with JSON, and says the response
//   call NAME JSON     calls a tool like "tool", and reports the call and its result as agents do
//   use JSON           asks for permission for a tool call of its own with these fields, and says the response
//
// Sentences are separated by "; ". Command-line arguments change its behaviour:
//   http (supports MCP servers over HTTP)
//   named=NAME (the name that it gives itself)
//   embedded (supports embedded resources)  v2 (ACP v2)  commands=A,B (listed with each new session)  early (…before its response)
//   banner (garbage first)  stubborn (ignores the end of stdin and SIGTERM)  mute (answers nothing)  refuse (no session is made)
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** @typedef {{ type: string, text: string, annotations?: object }} Block */
/** @typedef {{ name: string, value: string }} Pair */
/** @typedef {{ name: string, url?: string, headers: Pair[], command: string, args: string[], env: Pair[] }} McpServer */
/** @typedef {{ sessionId: string, prompt: Block[], mcpServers?: McpServer[] }} Params */
/** @typedef {{ id?: string | number, method?: string, params: Params, result?: unknown }} Message */

const manner = new Set(process.argv.slice(2).map((word) => word.split("=")[0]));
const listed =
  process.argv
    .find((word) => word.startsWith("commands="))
    ?.slice("commands=".length)
    .split(",") ?? [];
const named = process.argv.find((word) => word.startsWith("named="))?.slice("named=".length);
const isV2 = manner.has("v2");
let lastPermission = 0;
let sessions = 0;
let calls = 0;
/** The MCP servers of each session. @type {Map<string, McpServer[]>} */
const servers = new Map();
/** Callbacks for the editor's responses, by id. @type {Map<string | number, (result: unknown) => void>} */
const waiting = new Map();

/** @param {unknown} message */
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
/**
 * @param {string} sessionId
 * @param {object} update
 */
const tell = (sessionId, update) => send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
/**
 * @param {string} sessionId
 * @param {string} text
 */
const say = (sessionId, text) =>
  tell(sessionId, {
    sessionUpdate: "agent_message_chunk",
    ...(isV2 && { messageId: "m1" }),
    content: { type: "text", text },
  });
/**
 * @param {string} sessionId
 * @param {string[]} names
 */
const tellCommands = (sessionId, names) => {
  const availableCommands = names.map((name) => ({
    ...(isV2 && { type: "command" }),
    name,
    description: `The agent's own ${name}.`,
  }));
  tell(sessionId, { sessionUpdate: "available_commands_update", availableCommands });
};

/** @param {Pair[]} pairs */
const toRecord = (pairs) => Object.fromEntries(pairs.map(({ name, value }) => [name, value]));

/**
 * Calls a tool like a client before MCP 2026-07-28; over stdio, starts a server for the call.
 * @param {string} sessionId
 * @param {string} name
 * @param {unknown} input
 * @returns {Promise<string>}
 */
async function callTool(sessionId, name, input) {
  const server = servers.get(sessionId)?.find((one) => one.name === "skills");
  if (server === undefined) return "no server";
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
  if (server.url !== undefined) {
    const headers = {
      ...toRecord(server.headers),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const response = await fetch(server.url, { method: "POST", headers, body });
    return `${response.status} ${await response.text()}`;
  }
  const child = spawn(server.command, server.args, {
    env: { ...process.env, ...toRecord(server.env) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.write(`${body}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdin.end();
    return line;
  }
  return "the server said nothing";
}

/**
 * @param {string} sessionId
 * @param {{ title: string, toolCallId?: string }} fields
 * @returns {Promise<unknown>}
 */
function askPermission(sessionId, fields) {
  const id = `permission-${++lastPermission}`;
  const toolCall = { toolCallId: id, ...fields };
  const options = [
    { optionId: "always", kind: "allow_always", name: "Always" },
    { optionId: "once", kind: "allow_once", name: "Once" },
    { optionId: "no", kind: "reject_once", name: "No" },
  ];
  const subject = isV2 ? { title: fields.title, subject: { type: "tool_call", toolCall } } : { toolCall };
  send({ jsonrpc: "2.0", id, method: "session/request_permission", params: { sessionId, ...subject, options } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

/**
 * Executes one sentence; returns false if the prompt must not be answered.
 * @param {string} sessionId
 * @param {string} sentence
 * @param {unknown} prompt
 */
async function obey(sessionId, sentence, prompt) {
  const [word = "", ...rest] = sentence.split(" ");
  const argument = rest.join(" ");
  switch (word) {
    case "say":
      say(sessionId, argument);
      return true;
    case "echo":
      say(sessionId, JSON.stringify(prompt));
      return true;
    case "update":
      for (let count = 0; count < Number(argument); count++) say(sessionId, String(count).padStart(160, "."));
      return true;
    case "huge":
      say(sessionId, "x".repeat(Number(argument)));
      return true;
    case "commands":
      tellCommands(sessionId, rest);
      return true;
    case "raw":
      process.stdout.write(`${argument}\n`);
      return true;
    case "die":
      process.exit(Number(argument));
    case "kill":
      process.kill(process.pid, /** @type {NodeJS.Signals} */ (argument));
      return false;
    case "silent":
      return false;
    case "tool": {
      const [name = "", ...json] = rest;
      say(sessionId, await callTool(sessionId, name, JSON.parse(json.join(" ") || "{}")));
      return true;
    }
    case "call": {
      const [name = "", ...json] = rest;
      const input = json.join(" ") || "{}";
      const toolCallId = `call-${++calls}`;
      const fields = { toolCallId, name: `mcp__skills__${name}`, title: name, kind: "other" };
      /** @type {unknown} */
      const rawInput = JSON.parse(input);
      tell(sessionId, { sessionUpdate: "tool_call", ...fields, status: "pending", rawInput });
      const [, text = ""] = /(\{.*\})/s.exec(await callTool(sessionId, name, rawInput)) ?? [];
      /** @type {unknown} */
      const response = JSON.parse(text);
      const { result } = /** @type {{ result?: { isError?: boolean, content: object[] } }} */ (response);
      const status = result === undefined || result.isError === true ? "failed" : "completed";
      const content = (result?.content ?? []).map((block) => ({ type: "content", content: block }));
      tell(sessionId, { sessionUpdate: "tool_call_update", toolCallId, status, content });
      return true;
    }
    case "permit": {
      const [name = "", ...json] = rest;
      /** @type {unknown} */
      const rawInput = JSON.parse(json.join(" ") || "{}");
      const fields = { toolCallId: `call-${name}`, name: `mcp__skills__${name}`, title: name, kind: "other", rawInput };
      say(sessionId, JSON.stringify(await askPermission(sessionId, fields)));
      return true;
    }
    case "use": {
      /** @type {unknown} */
      const given = JSON.parse(argument);
      const fields = /** @type {{ title: string }} */ (given);
      say(sessionId, JSON.stringify(await askPermission(sessionId, fields)));
      return true;
    }
    default:
      say(sessionId, JSON.stringify(prompt));
      return true;
  }
}

/**
 * The user's own text: annotated blocks are meant for the model.
 * @param {Block} block
 */
const isSaid = ({ type, annotations }) => type === "text" && annotations === undefined;

/** How avante sends the user's messages, the last one first, with a text of its own behind them. */
const tagged = /^<previous_user_message>(.*)<\/previous_user_message>$/s;

/**
 * @param {string} method
 * @param {Params} params
 * @param {(result: unknown) => void} answer
 */
async function serve(method, params, answer) {
  switch (method) {
    case "initialize": {
      const embeddedContext = manner.has("embedded");
      const v1 = {
        protocolVersion: 1,
        ...(named !== undefined && { agentInfo: { name: named, version: "1" } }),
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { embeddedContext },
          ...(manner.has("http") && { mcpCapabilities: { http: true } }),
        },
      };
      const prompt = embeddedContext ? { embeddedContext: {} } : {};
      const v2 = {
        protocolVersion: 2,
        info: { name: named ?? "scripted", version: "1" },
        capabilities: { session: { prompt, mcp: manner.has("http") ? { http: {} } : { stdio: {} } } },
      };
      answer(isV2 ? v2 : v1);
      return;
    }
    case "session/new":
    case "session/fork": {
      const sessionId = `session-${++sessions}`;
      servers.set(sessionId, params.mcpServers ?? []);
      if (manner.has("early")) tellCommands(sessionId, listed);
      answer({ sessionId });
      if (listed.length > 0 && !manner.has("early")) tellCommands(sessionId, listed);
      return;
    }
    case "session/prompt": {
      const said = params.prompt.filter(isSaid).map(({ text }) => text);
      const words = said.map((text) => tagged.exec(text)?.[1]).find(Boolean) ?? said.at(-1) ?? "";
      if (isV2) answer({ messageId: "u1" });
      let isAnswered = true;
      for (const sentence of words.split("; "))
        isAnswered = (await obey(params.sessionId, sentence, params.prompt)) && isAnswered;
      if (isV2) tell(params.sessionId, { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
      else if (isAnswered) answer({ stopReason: "end_turn" });
      return;
    }
    default:
      answer({});
  }
}

/**
 * @param {string} line
 * @returns {Message | undefined}
 */
function parse(line) {
  try {
    /** @type {unknown} */
    const message = JSON.parse(line);
    return /** @type {Message} */ (message);
  } catch {
    process.stderr.write("the scripted agent was sent a line that is not JSON\n");
    return undefined;
  }
}

if (manner.has("banner")) process.stdout.write("Welcome to the scripted agent!\n");
if (manner.has("stubborn")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = parse(line);
  if (message?.method === undefined && message?.id !== undefined) waiting.get(message.id)?.(message.result);
  if (message?.id === undefined || message.method === undefined || manner.has("mute")) return;
  const { id, method, params } = message;
  if (manner.has("refuse") && method === "session/new")
    send({ jsonrpc: "2.0", id, error: { code: -32000, message: "Authentication required" } });
  else
    void serve(method, params, (result) => {
      send({ jsonrpc: "2.0", id, result });
    });
});
