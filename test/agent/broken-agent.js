// An agent that breaks one rule of skills over ACP, named by its first argument; otherwise it keeps them all.
import { createInterface } from "node:readline";

const rule = process.argv[2] ?? "";
const sessionId = "session-1";

/** @param {unknown} message */
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
/** @param {object} update */
const update = (update) => ({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
/** @param {unknown[]} availableSkills */
const list = (...availableSkills) => update({ sessionUpdate: "available_skills_update", availableSkills });
/** @param {unknown[]} availableCommands */
const commands = (...availableCommands) => update({ sessionUpdate: "available_commands_update", availableCommands });
/** @param {object} fields */
const changes = (fields) => update({ sessionUpdate: "available_skills_update", ...fields });

const description = "Reads PDF files.";
const skill = { name: "pdf", description };
const facts = { source: "/project/.agents/skills" };
const command = { name: "pdf", description, _meta: { "acp-skills": facts } };
const plan = { name: "plan", description: "Makes a plan." };
const chunk = update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Done." } });

/**
 * What is sent after the session/new response, by the broken rule.
 * @type {Record<string, unknown[]>}
 */
const sent = {
  "update-nested": [
    {
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId, sessionUpdate: "available_skills_update", availableSkills: [skill] },
    },
  ],
  "list-present": [changes({})],
  "skill-names-unique": [list(skill, skill)],
  "deltas-asked-for": [list(skill), changes({ revision: 2, added: [], changed: [], removed: ["pdf"] })],
  "deltas-apply": [
    changes({ revision: 1, availableSkills: [skill] }),
    changes({ revision: 3, added: [], changed: [], removed: ["tables"] }),
  ],
  "skill-name": [list({ ...skill, name: "PDF--Reader" })],
  "skill-description": [list({ ...skill, description: "d".repeat(1025) })],
  "skill-license": [list({ ...skill, license: { name: "MIT" } })],
  "skill-compatibility": [list({ ...skill, compatibility: "c".repeat(501) })],
  "skill-allowed-tools": [list({ ...skill, allowedTools: "Read Write" })],
  "skill-metadata": [list({ ...skill, metadata: { version: 1 } })],
  "skill-meta": [list({ ...skill, _meta: [] })],
  "skill-custom-fields": [list({ ...skill, author: "Ada" })],
  "v1-kinds": [update({ sessionUpdate: "skills_changed", skills: [skill] })],
  "v2-kinds": [update({ sessionUpdate: "skills_changed", skills: [skill] })],
  "skills-asked-for": [list(skill)],
  "update-is-notification": [{ ...list(skill), id: 7 }],
  "agent-custom-methods": [{ jsonrpc: "2.0", method: "skills/changed", params: { sessionId } }],
  "meta-is-object": [{ ...list(skill), params: { ...list(skill).params, _meta: ["skills"] } }],
  "update-custom-fields": [update({ sessionUpdate: "available_skills_update", availableSkills: [skill], total: 1 })],
  "notifications-asked-for": [{ ...list(skill), method: "_acp-skills/skills_update" }],
  "commands-declined": [list(skill), commands(plan, command)],
  "advertised-is-sent": [list(skill)],
  "command-fields": [commands({ name: "pdf" })],
  "v2-command-type": [commands(plan)],
  "v2-command-names": [commands({ ...plan, type: "command" }, { ...plan, type: "command" })],
  "skill-listed-once": [commands(command, { ...plan, name: "$pdf" })],
  "command-facts": [commands({ ...command, name: "PDF Reader" })],
  "command-count": [
    { ...commands(command), params: { ...commands(command).params, _meta: { "acp-skills": { skills: 2 } } } },
  ],
  "commands-kept": [commands(plan), commands(command)],
};
/** @type {Record<string, unknown>} */
const advertised = {
  "advertised-is-sent": { version: "1.0.0", tools: [], update: ["available_commands_update"] },
  "advertisement-form": { version: 1, tools: "list_skills" },
};

/**
 * @param {string} method
 * @param {{ protocolVersion?: number }} params
 */
function resultOf(method, params) {
  const _meta = rule in advertised ? { "acp-skills": advertised[rule] } : {};
  if (method === "session/new") return { sessionId };
  if (method === "session/prompt") return { stopReason: "end_turn" };
  if (method !== "initialize") return {};
  return params.protocolVersion === 2
    ? { protocolVersion: 2, info: { name: "broken", version: "1" }, capabilities: { session: {}, _meta } }
    : {
        protocolVersion: 1,
        agentInfo: { name: "broken", version: "1" },
        agentCapabilities: { sessionCapabilities: { close: {} }, _meta },
      };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  /** @type {unknown} */
  const request = JSON.parse(line);
  const { id, method, params } = /** @type {{ id?: number, method: string, params: { protocolVersion?: number } }} */ (
    request
  );
  if (id === undefined) return;
  if (rule === "agent-messages" && method === "initialize") process.stdout.write("Welcome to the broken agent!\n");
  if (rule === "session-known-first" && method === "session/new") send(commands(plan));
  if (rule === "agent-answers" && method === "session/new") send({ jsonrpc: "2.0", id: 99, result: {} });
  if (rule !== "turn-order" && method === "session/prompt") send(chunk);
  send({ jsonrpc: "2.0", id, result: resultOf(method, params) });
  if (method === "session/new") for (const message of sent[rule] ?? []) send(message);
  if (rule === "turn-order" && method === "session/prompt") send(chunk);
  if (rule === "closed-session-silent" && method === "session/close") send(commands(plan));
});
