// An agent that calls its model itself: editors see the skills of each session, the model has the tools, and the person is asked in the editor.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agent, client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { openSkills, withSkills } from "acp-skills";
import { soon } from "./soon.js";
import { streamPair } from "./stream-pair.js";

const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const options = {
  directories: [fileURLToPath(new URL("skills", import.meta.url))],
  defaultRoots: false,
  dataDirectory, // Left out, blobs and the ledger are kept in the user's own.
};

const tools = await openSkills(options);
/** @type {Map<string, import("acp-skills").Skills>} */
const sessions = new Map();

const myAgent = agent({ name: "my-agent" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, ({ params, client: editor }) => {
    const sessionId = `session-${sessions.size + 1}`;
    /** @type {NonNullable<import("acp-skills").OpenSkillsOptions["ask"]>} */
    const ask = async ({ title, options: answers, skill }) => {
      /** @type {import("@agentclientprotocol/sdk").RequestPermissionRequest} */
      const request = {
        sessionId,
        toolCall: { toolCallId: `question-${skill?.name ?? "read"}`, title },
        options: answers.map(({ answer, label, kind }) => ({ optionId: answer, name: label, kind })),
      };
      const { outcome } = await editor.request(methods.client.session.requestPermission, request);
      return outcome.outcome === "selected"
        ? answers.find(({ answer }) => answer === outcome.optionId)?.answer
        : undefined;
    };
    sessions.set(sessionId, tools.forSession({ ...params, ask }));
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId }, client: editor }) => {
    const skills = sessions.get(sessionId);
    assert(skills !== undefined);
    for await (const { name, input } of myModel(skills.tools("anthropic"))) {
      const report = {
        sessionId,
        send: (/** @type {string} */ method, /** @type {any} */ update) => editor.notify(method, update),
      };
      await skills.call(name, input, { sessionId, report });
    }
    return { stopReason: "end_turn" };
  });

/**
 * Stands for the model's API: it is given the tools, and answers with calls.
 * @param {readonly { name: string }[]} definitions
 */
async function* myModel(definitions) {
  assert(definitions.some(({ name }) => name === "describe_skill"));
  yield await Promise.resolve({ name: "describe_skill", input: { name: "csv-summary" } });
}

const [editorSide, agentSide] = streamPair();
// The model has the tools already: no MCP server is added for it, and no list of skills to its prompts.
const mine = withSkills(myAgent, { ...options, tools: "none", instructModel: false });
mine.connect(agentSide);

/** @type {string[]} */
const titles = [];
/** @type {(names: string[]) => void} */
let announced;
/** @type {Promise<string[]>} */
const commands = new Promise((resolve) => {
  announced = resolve;
});
const editor = client({ name: "my-editor" })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "available_commands_update")
      announced(update.availableCommands.map(({ name }) => name));
    if (update.sessionUpdate === "tool_call") titles.push(update.title);
  })
  .connect(editorSide);
const { initialize, session } = methods.agent;
await editor.agent.request(initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
const { sessionId } = await editor.agent.request(session.new, { cwd: process.cwd(), mcpServers: [] });
const { stopReason } = await soon(
  editor.agent.request(session.prompt, {
    sessionId,
    prompt: [{ type: "text", text: "How do I summarise a CSV file?" }],
  }),
);
assert.equal(stopReason, "end_turn");
assert.deepEqual(titles, ["Describe skill csv-summary"]);
assert.deepEqual(await soon(commands), ["commit-message", "csv-summary", "release-notes"]);
console.log(`the model described csv-summary; the editor saw that, and offers ${(await commands).join(", ")}`);

editor.close();
await mine.close();
await tools.close();
await rm(dataDirectory, { recursive: true });
