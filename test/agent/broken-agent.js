// An agent that breaks one rule of skills over ACP, named by its first argument; otherwise it keeps them all.
import { createInterface } from "node:readline";

const rule = process.argv[2] ?? "";
const sessionId = "session-1";
let isV2 = false;

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
/** As ACP v2 has them for editors that declare skill entries. */
const entry = { type: "skill", name: "pdf", description, path: "/project/.agents/skills/pdf/SKILL.md" };
const plannedV2 = { type: "command", name: "plan", description: "Makes a plan." };
const pdfCommand = { type: "command", name: "pdf", description };
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
  // These two break nothing.
  "skill-entries": [commands(plannedV2, entry)],
  "skill-commands": [
    update({ sessionUpdate: "_available_skills_update", availableSkills: [skill] }),
    commands(pdfCommand),
  ],
  "skill-entries-asked-for": [commands(plannedV2, entry)],
  "skill-entries-advertised": [commands(plannedV2, entry)],
  "skill-entry-name": [commands({ ...entry, name: "pdf reader" })],
  "skill-entry-unique": [commands({ ...plannedV2, name: "pdf" }, entry)],
  "skill-entry-description": [commands({ ...entry, description: null })],
  "skill-entry-path": [commands({ ...entry, path: "pdf/SKILL.md" })],
  "skills-as-commands": [
    update({ sessionUpdate: "_available_skills_update", availableSkills: [skill] }),
    commands(plannedV2),
  ],
  "unknown-skill-refused": [commands(plannedV2, entry)],
  "listed-skill-accepted": [commands(plannedV2, entry)],
  "skill-in-one-form": [
    commands(plannedV2, entry),
    update({ sessionUpdate: "_available_skills_update", availableSkills: [skill] }),
  ],
};
/** @type {Record<string, unknown>} */
const advertised = {
  "advertised-is-sent": { version: "1.0.0", tools: [], update: ["available_commands_update"] },
  "advertisement-form": { version: 1, tools: "list_skills" },
};

const idle = update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
/** What v2 says it takes as blocks. */
const takesBlocks =
  /skill-entr|skill-commands|skills-as-commands|unknown-skill|listed-skill|skill-in-one-form/.test(rule) &&
  rule !== "skill-entries-advertised";

/**
 * Why a prompt is refused; undefined if it is not.
 * @param {{ type?: string, name?: unknown }[]} prompt
 */
function refusal(prompt) {
  const names = prompt.flatMap(({ type, name }) => (type === "skill" ? [name] : []));
  if (names.length === 0 || rule === "unknown-skill-refused") return undefined;
  const unknown = names.find((name) => name !== "pdf");
  if (names.every((name) => name === "pdf") && rule !== "listed-skill-accepted") return undefined;
  return { code: -32602, message: `no such skill: ${JSON.stringify(unknown)}` };
}

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
    ? {
        protocolVersion: 2,
        info: { name: "broken", version: "1" },
        capabilities: { session: takesBlocks ? { prompt: { skill: { inline: {} } } } : {}, _meta },
      }
    : {
        protocolVersion: 1,
        agentInfo: { name: "broken", version: "1" },
        agentCapabilities: { sessionCapabilities: { close: {} }, _meta },
      };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  /** @type {unknown} */
  const request = JSON.parse(line);
  const { id, method, params } =
    /** @type {{ id?: number, method: string, params: { protocolVersion?: number, prompt?: { type: string }[] } }} */ (
      request
    );
  if (id === undefined) return;
  if (method === "initialize") isV2 = params.protocolVersion === 2;
  const error = method === "session/prompt" && isV2 ? refusal(params.prompt ?? []) : undefined;
  if (error !== undefined) {
    send({ jsonrpc: "2.0", id, error });
    return;
  }
  if (method === "session/prompt" && isV2) {
    for (const message of [{ jsonrpc: "2.0", id, result: {} }, chunk, idle]) send(message);
    return;
  }
  if (rule === "agent-messages" && method === "initialize") process.stdout.write("Welcome to the broken agent!\n");
  if (rule === "session-known-first" && method === "session/new") send(commands(plan));
  if (rule === "agent-answers" && method === "session/new") send({ jsonrpc: "2.0", id: 99, result: {} });
  if (rule !== "turn-order" && method === "session/prompt") send(chunk);
  send({ jsonrpc: "2.0", id, result: resultOf(method, params) });
  if (method === "session/new") for (const message of sent[rule] ?? []) send(message);
  if (rule === "turn-order" && method === "session/prompt") send(chunk);
  if (rule === "closed-session-silent" && method === "session/close") send(commands(plan));
});
