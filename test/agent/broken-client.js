// A client that breaks one rule, named by its first argument: it starts the command behind it as its agent, and leaves when it has.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [rule = "", program = "", ...args] = process.argv.slice(2);
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
/** @param {unknown} message */
const send = (message) => agent.stdin.write(`${JSON.stringify(message)}\n`);
const optIn = rule === "client-opt-in" ? "yes" : true;
/** Whether it is an editor of ACP v2 that invokes a skill by a block. */
const invokes = rule.startsWith("client-skill-blocks");
const words = { type: "text", text: "Hello." };
/** Its prompt, by the broken rule. @type {Record<string, object[]>} */
const prompts = {
  "client-skill-blocks-allowed": [words, { type: "skill", name: "code-review" }],
  "client-skill-blocks-listed": [{ type: "skill", name: "no-such-skill" }, words],
};
/** How many requests it has answered. */
let answered = 0;

createInterface({ input: agent.stdout }).on("line", (line) => {
  if (!line.startsWith("{")) return;
  /** @type {unknown} */
  const message = JSON.parse(line);
  const { id, method } = /** @type {{ id?: unknown, method?: string }} */ (message);
  if (id === 1 && method === undefined) {
    if (rule === "client-custom-methods") send({ jsonrpc: "2.0", method: "skills/wanted", params: {} });
    send({ jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd: "/project", mcpServers: [] } });
  }
  if (method === undefined) return;
  if (id === undefined) {
    if (rule === "client-quiet" && answered === 1)
      send({ jsonrpc: "2.0", id: null, error: { code: -32602, message: "Invalid params" } });
    return;
  }
  answered++;
  if (rule === "client-messages" && answered === 2) agent.stdin.write("[debug] got a request\n");
  if (rule === "client-answers" && answered === 2) return;
  const code = rule === "client-method-not-found" ? -32603 : -32601;
  send({ jsonrpc: "2.0", id, error: { code, message: "Method not found" } });
  if (invokes && answered === 2) {
    const prompt = prompts[rule] ?? [{ type: "skill", name: "code-review" }, words];
    send({ jsonrpc: "2.0", id: 3, method: "session/prompt", params: { sessionId: "session-1", prompt } });
  }
  if (answered === 4) agent.stdin.end();
});
const info = { name: "broken-client", version: "1" };
const v1 = { protocolVersion: 1, clientInfo: info, clientCapabilities: { _meta: { "acp-skills": optIn } } };
const v2 = { protocolVersion: 2, info, capabilities: { session: { commands: { skill: {} } } } };
send({ jsonrpc: "2.0", id: 1, method: "initialize", params: invokes ? v2 : v1 });
