// Writes the folders of `schema/conformance/` that are missing: `node .config/record-conformance.js [DIRECTORY of transcripts of real agents]`,
// after a build. To record a rule again, remove its folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startAgent } from "../.build/acp/relay/start-agent.js";
import { systemClock } from "../.build/base/clock.js";
import { connectToAgent } from "../.build/conformance/drive-agent/agent-connection.js";
import { driveAgent, toInitializeParams, variants } from "../.build/conformance/drive-agent.js";
import { conformanceRules } from "../.build/conformance/rules.js";
import { normaliseTranscript, placeholdersOf } from "../.build/conformance/normalise.js";
import { byConnection, createRecording, readTranscript } from "../.build/conformance/transcript.js";

/** @typedef {import("../.build/conformance/transcript.d.ts").TranscriptEntry} Entry */

const at = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const main = at("dist/cli/main.js");

/**
 * @param {string} rule
 * @param {string} name
 * @param {readonly Entry[]} entries
 * @param {readonly string[]} directories
 */
function write(rule, name, entries, directories) {
  mkdirSync(at(`schema/conformance/${rule}`), { recursive: true });
  const alone = entries.map(({ from, message, text }, index) => ({
    line: index + 1,
    from,
    ...(text === undefined ? { message } : { text }),
  }));
  writeFileSync(
    at(`schema/conformance/${rule}/${name}.ndjson`),
    normaliseTranscript(alone, placeholdersOf(directories)).join(""),
  );
}

/**
 * Shortens texts of agents, which may be pages long.
 * @param {unknown} value
 * @returns {unknown}
 */
function shorten(value) {
  if (typeof value === "string") return value.length > 120 ? `${value.slice(0, 100)}…` : value;
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item)]));
}

/**
 * Our wrapper around the scripted agent, as each editor sees it.
 * @param {string[]} manner
 */
async function wrapScripted(...manner) {
  const args = [
    main,
    "--no-default-roots",
    "--skills",
    at("examples/skills"),
    "--",
    process.execPath,
    at("test/agent/scripted-agent.js"),
    ...manner,
  ];
  const agent = { command: process.execPath, args };
  return await driveAgent({ agent, prompt: "say Done.", timeoutMs: 30_000, patienceMs: 5_000, clock: systemClock });
}

/** Who the editor is in the transcripts of a rule. @type {Record<string, string>} */
const editorOf = {
  "v2-kinds": "v2",
  "v2-command-type": "v2",
  "v2-command-names": "v2",
  "deltas-apply": "notification",
  "commands-declined": "notification",
  "v1-kinds": "plain",
  "skills-asked-for": "plain",
  "notifications-asked-for": "plain",
  "turn-order": "plain",
  "session-known-first": "plain",
  "command-fields": "plain",
  "skill-listed-once": "plain",
  "command-facts": "plain",
  "command-count": "plain",
  "commands-kept": "plain",
  "agent-messages": "plain",
  "agent-answers": "plain",
};

/** Rules about skill entries and blocks, which the driver invokes itself, by their editor. @type {Record<string, string>} */
const invokingEditorOf = {
  "skill-entries-asked-for": "v2",
  "skill-entries-advertised": "v2-skill",
  "skill-entry-name": "v2-skill",
  "skill-entry-unique": "v2-skill",
  "skill-entry-description": "v2-skill",
  "skill-entry-path": "v2-skill",
  "skills-as-commands": "v2",
  "unknown-skill-refused": "v2-skill",
  "listed-skill-accepted": "v2-skill",
  "skill-in-one-form": "v2-skill",
};

/**
 * A small agent, as the editors of these rules see it.
 * @param {string} rule
 * @param {string} manner
 */
async function recordInvoked(rule, manner) {
  const agent = { command: process.execPath, args: [at("test/agent/broken-agent.js"), manner] };
  const common = { agent, cwd: "/project", prompt: "Hello.", timeoutMs: 10_000, patienceMs: 500, clock: systemClock };
  const { connections } = await driveAgent(common);
  const passed = connections.find(({ name }) => name === invokingEditorOf[rule]);
  if (passed === undefined) throw new Error(rule);
  write(rule, manner === rule ? "fail-broken-agent" : "pass-small-agent", passed.entries, []);
}

/** @param {string} rule */
async function recordBroken(rule) {
  const variant = variants.find(({ name }) => name === (editorOf[rule] ?? "update"));
  if (variant === undefined) throw new Error(rule);
  const recorder = createRecording().open("broken");
  const agent = await startAgent({ command: process.execPath, args: [at("test/agent/broken-agent.js"), rule] });
  const connection = connectToAgent(agent, recorder, { clock: systemClock });
  const sessionId = "session-1";
  await connection.request("initialize", toInitializeParams(variant, "1.0.0"), 10_000);
  await connection.request("session/new", { cwd: "/project", mcpServers: [] }, 10_000);
  await connection.quiet(300);
  if (rule === "turn-order")
    await connection.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello." }] }, 10_000);
  await connection.request("session/close", { sessionId }, 10_000);
  await connection.quiet(300);
  await connection.close();
  write(rule, "fail-broken-agent", recorder.entries, []);
}

/** @param {string} rule @param {string} name */
function recordClient(rule, name) {
  const directory = mkdtempSync(join(tmpdir(), "acp-skills-record-"));
  const record = join(directory, "client.ndjson");
  const played = [
    main,
    "conformance",
    "--client",
    "--timeout",
    "5",
    "--record",
    record,
    "--report",
    join(directory, "report.txt"),
  ];
  const kept = rule.startsWith("client-skill-blocks") ? "client-skill-blocks" : "";
  execFileSync(
    process.execPath,
    [at("test/agent/broken-client.js"), name.startsWith("pass") ? kept : rule, process.execPath, ...played],
    {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 60_000,
    },
  );
  write(rule, name, readTranscript(readFileSync(record, "utf8"), record), []);
  rmSync(directory, { recursive: true });
}

const scripted = await wrapScripted("commands=plan,init");
const scriptedV2 = await wrapScripted("v2", "commands=plan,init");
for (const { id, appliesTo } of conformanceRules) {
  if (existsSync(at(`schema/conformance/${id}`))) continue;
  if (appliesTo === "client") {
    recordClient(id, "pass-small-client");
    recordClient(id, "fail-broken-client");
    continue;
  }
  if (Object.hasOwn(invokingEditorOf, id)) {
    await recordInvoked(id, invokingEditorOf[id] === "v2" ? "skill-commands" : "skill-entries");
    const wrapped = scriptedV2.connections.find(({ name }) => name === invokingEditorOf[id]);
    if (wrapped !== undefined) write(id, "pass-wrapped-scripted-agent", wrapped.entries, scriptedV2.directories);
    await recordInvoked(id, id);
    continue;
  }
  const editor = editorOf[id] ?? "update";
  const from = editor === "v2" ? scriptedV2 : scripted;
  const passed = from.connections.find(({ name }) => name === editor);
  if (passed !== undefined) write(id, "pass-wrapped-scripted-agent", passed.entries, from.directories);
  await recordBroken(id);
}

/** @param {unknown} message */
function speaksV2(message) {
  const { result } = /** @type {{ result?: { protocolVersion?: unknown } }} */ (message ?? {});
  return result?.protocolVersion === 2;
}

/** Where a connection of a real agent is published. */
const published = {
  plain: "v1-kinds",
  update: "advertised-is-sent",
  notification: "deltas-apply",
  v2: "v2-kinds",
  "v2-skill": "skill-entries-advertised",
};
const [, , directory] = process.argv;
for (const agent of directory === undefined ? [] : ["Claude", "opencode", "Codex", "Gemini CLI"]) {
  const file = join(directory ?? "", `${agent}.ndjson`);
  if (!existsSync(file)) continue;
  const connections = byConnection(readTranscript(readFileSync(file, "utf8"), file));
  for (const [editor, rule] of Object.entries(published)) {
    const entries = (connections.get(editor) ?? []).map((entry) => ({ ...entry, message: shorten(entry.message) }));
    const isV2 = entries.some(({ from, message }) => from === "agent" && speaksV2(message));
    if (entries.length > 0 && (isV2 || !editor.startsWith("v2")))
      write(rule, `pass-wrapped-${agent.toLowerCase().replaceAll(" ", "-")}`, entries, []);
  }
}
