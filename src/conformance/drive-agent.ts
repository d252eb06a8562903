import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type AgentCommand, startAgent } from "../acp/wrap-command.ts";
import type { Clock } from "../base/clock.ts";
import { version } from "../base/version.ts";
import { fieldsOf } from "../client/json.ts";
import { initialize, sessionClose, sessionNew, sessionPrompt, metaKey } from "../wire/methods.ts";
import { quote } from "./rule.ts";
import { commandUpdates, judgeName, skillUpdates, readExchange } from "./exchange.ts";
import { type TranscriptEntry, createRecording, type Recorder } from "./transcript.ts";
import { type AgentConnection, connectToAgent } from "./drive-agent/agent-connection.ts";
import { invokeSkills, missingAsCommands, skillBlock } from "./drive-agent/invoke-skills.ts";
import { listedNames } from "./skill-entries.ts";
import type { PeerResponse } from "./peer.ts";

export interface DriveOptions {
  readonly agent: AgentCommand;
  /** The directory of the sessions. Default: a temporary project with one skill, which is edited and removed. */
  readonly cwd?: string | undefined;
  /** The prompt for the first connection, and for skill blocks if an agent takes them; it may cost money. */
  readonly prompt?: string | undefined;
  /** The maximum wait for each answer, in milliseconds; ten times as long for a prompt. */
  readonly timeoutMs: number;
  /** The maximum wait for each update, in milliseconds. */
  readonly patienceMs: number;
  readonly clock: Clock;
  /** Ends the check early. */
  readonly signal?: AbortSignal;
  /** Called before each connection. Must not throw. */
  readonly onVariant?: (variant: Variant) => void;
}

/** One connection to the agent. Faults make an agent fail, notes do not; both are sentences without full stop. */
type DrivenConnection = Awaited<ReturnType<typeof driveOnce>>;

export interface Driven {
  readonly entries: readonly TranscriptEntry[];
  readonly connections: readonly DrivenConnection[];
  /** The sessions' directories. */
  readonly directories: readonly string[];
}

/** How long an agent is silent after it has sent everything, in milliseconds. */
const silence = 400;
/** How long an agent that listed skills has to list commands before the skill is edited. */
const commandsMs = 3_000;

/**
 * Connects to an agent as several editors, one after the other, and records everything. Rejects with AGENT_NOT_FOUND or
 * AGENT_NOT_EXECUTABLE; whatever a started agent does becomes a fault or a note.
 */
export async function driveAgent(options: DriveOptions): Promise<Driven> {
  const recording = createRecording();
  const connections: DrivenConnection[] = [];
  const directories: string[] = [];
  for (const variant of variants) {
    if (options.signal?.aborted === true) break;
    options.onVariant?.(variant);
    const fixture = options.cwd === undefined ? await makeFixture() : undefined;
    try {
      const directory = fixture?.directory ?? options.cwd ?? "";
      directories.push(directory);
      connections.push(await driveOnce(variant, recording.open(variant.name), directory, fixture, options));
    } finally {
      if (fixture !== undefined) await rm(fixture.directory, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  noteMissingCommands(connections);
  return { entries: recording.entries, connections, directories };
}

/** Notes skills that one editor gets as entries, but an editor without skill entries does not get as commands. */
function noteMissingCommands(connections: readonly DrivenConnection[]): void {
  const [plain, declared] = ["v2", "v2-skill"].map((variant) => connections.find(({ name }) => name === variant));
  if (plain === undefined || declared === undefined) return;
  for (const name of missingAsCommands(readExchange(declared.entries), readExchange(plain.entries)))
    plain.notes.push(`the skill ${quote(name)} is no command here, but an entry for an editor that declares them`);
}

async function driveOnce(
  variant: Variant,
  recorder: Recorder,
  cwd: string,
  fixture: Fixture | undefined,
  options: DriveOptions,
) {
  const { name, about } = variant;
  const faults: string[] = [];
  const notes: string[] = [];
  const connection = connectToAgent(await startAgent(options.agent), recorder, options);
  try {
    const { timeoutMs } = options;
    const initialized = await connection.request(initialize, toInitializeParams(variant, version), timeoutMs);
    const result = resultOf(initialized);
    if (result === undefined) (variant.protocol === 2 ? notes : faults).push(`initialize: ${reasonOf(initialized)}`);
    else if (variant.protocol === 2 && result["protocolVersion"] !== 2) notes.push("the agent does not speak ACP v2");
    else {
      const opened = await connection.request(sessionNew, { cwd, mcpServers: [] }, timeoutMs);
      const sessionId = resultOf(opened)?.["sessionId"];
      if (typeof sessionId === "string") {
        const { prompt } = options;
        const isInvoking = variant === variants.at(-1) && prompt !== undefined;
        const sendBlocks = async (blocks: readonly object[]): Promise<void> => {
          const isEnded = openTurnEnd(recorder);
          const answer = await connection.request(sessionPrompt, { sessionId, prompt: blocks }, timeoutMs * 10);
          if ("failed" in answer) faults.push(`${sessionPrompt}: ${answer.failed}`);
          if ("result" in answer) await connection.until(isEnded, timeoutMs * 10);
          await connection.quiet(silence);
        };
        /** The skill that was invoked by its block, while it was listed. */
        let invoked: string | undefined;
        const onListed = async (): Promise<void> => {
          if (!isInvoking) return;
          const isFixture = ({ description }: { readonly description: unknown }): boolean =>
            description === descriptions[0];
          invoked = await invokeSkills(readExchange(recorder.entries), isFixture, sendBlocks, prompt);
          if (invoked === undefined)
            notes.push("no skill was invoked: the agent sends no skill entries that it takes as blocks");
        };
        notes.push(...(await watchSkills(connection, recorder, fixture, options.patienceMs, onListed)));
        const exchange = readExchange(recorder.entries);
        const [current] = listedNames(exchange, sessionId, [exchange.lastLine + 1, exchange.lastLine + 1]);
        if (isInvoking && invoked !== undefined && current?.has(invoked) === false)
          await sendBlocks([skillBlock(invoked), { type: "text", text: prompt }]);
        const send = async (method: string, params: object, ms: number): Promise<void> => {
          const answer = await connection.request(method, { sessionId, ...params }, ms);
          if (!("result" in answer)) faults.push(`${method}: ${reasonOf(answer)}`);
          await connection.quiet(silence);
        };
        if (prompt !== undefined && variant === variants[0])
          await send(sessionPrompt, { prompt: [{ type: "text", text: prompt }] }, timeoutMs * 10);
        if (canClose(result)) await send(sessionClose, {}, timeoutMs);
      } else faults.push(`session/new: ${"result" in opened ? "the response has no sessionId" : reasonOf(opened)}`);
    }
  } finally {
    await connection.close();
  }
  return { name, about, entries: recorder.entries, faults, notes };
}

/** Waits for the list of skills, and for its changes. Resolves with sentences about those that did not come. */
async function watchSkills(
  connection: AgentConnection,
  recorder: Recorder,
  fixture: Fixture | undefined,
  patienceMs: number,
  onListed: () => Promise<void>,
): Promise<readonly string[]> {
  const lists = openLists(recorder);
  const lastList = (): string => lists().last;
  if (fixture === undefined) {
    await connection.until(() => lastList() !== "{}", patienceMs);
    await connection.quiet(silence);
    await onListed();
    return [];
  }
  const [first, second] = descriptions;
  const isListed = await connection.until(() => lastList().includes(first), patienceMs);
  // A slow agent may list its commands long after its skills.
  await connection.until(() => lists().hasCommands, commandsMs);
  await connection.quiet(silence);
  await onListed();
  if (!isListed) return ["the skill in .agents/skills and .claude/skills of the session's directory was not listed"];
  await fixture.write(second);
  const isSentAgain = await connection.until(() => lastList().includes(second), patienceMs);
  await connection.quiet(silence);
  const before = lastList();
  await fixture.remove();
  const isRemoved = await connection.until(() => lastList() !== before, patienceMs);
  await connection.quiet(silence);
  return [
    ...(isSentAgain ? [] : ["an edited skill was not sent again"]),
    ...(isRemoved ? [] : ["a removed skill was not sent"]),
  ];
}

/** The last list that the agent sent, as JSON, and whether it listed commands; only new entries are read each time. */
function openLists(recorder: Recorder): () => { readonly last: string; readonly hasCommands: boolean } {
  let read = 0;
  let last = "{}";
  let hasCommands = false;
  return () => {
    const exchange = readExchange(recorder.entries.slice(read));
    read = recorder.entries.length;
    const commands = commandUpdates(exchange);
    hasCommands ||= commands.length > 0;
    const lists = [...skillUpdates(exchange), ...commands].sort((a, b) => a.line - b.line);
    const update = lists.at(-1)?.update;
    if (update !== undefined) last = JSON.stringify(update);
    return { last, hasCommands };
  };
}

/** Whether a turn has ended since the call, by the messages of ACP v2; only new entries are read each time. */
function openTurnEnd(recorder: Recorder): () => boolean {
  let read = recorder.entries.length;
  let isEnded = false;
  return () => {
    const { updates } = readExchange(recorder.entries.slice(read));
    read = recorder.entries.length;
    isEnded ||= updates.some(({ kind, update }) => kind === "state_update" && update["state"] === "idle");
    return isEnded;
  };
}

function canClose(initialized: Readonly<Record<string, unknown>>): boolean {
  if (initialized["protocolVersion"] === 2) return fieldsOf(initialized["capabilities"])?.["session"] !== undefined;
  const capabilities = fieldsOf(initialized["agentCapabilities"]);
  return fieldsOf(fieldsOf(capabilities?.["sessionCapabilities"])?.["close"]) !== undefined;
}

function resultOf(answer: PeerResponse): Readonly<Record<string, unknown>> | undefined {
  return "result" in answer ? fieldsOf(answer.result) : undefined;
}

function reasonOf(answer: PeerResponse): string {
  if ("failed" in answer) return answer.failed;
  if ("result" in answer) return `the result is ${quote(answer.result)}; it must be an object`;
  const { code, message } = fieldsOf(answer.error) ?? {};
  return `the agent refuses it: ${typeof message === "string" ? message.slice(0, 200) : quote(answer.error)} (${quote(code)})`;
}

const fixtureName = "conformance-fixture";
/** The descriptions of the skill before and after it is edited; no other skill has them. */
const descriptions = [
  "Written by acp-skills conformance, to see how skills arrive.",
  "Edited by acp-skills conformance, to see how changes arrive.",
] as const;

type Fixture = Awaited<ReturnType<typeof makeFixture>>;

/** Makes a temporary project with one skill, in the directories in which agents look for skills. */
async function makeFixture() {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), "acp-skills-conformance-")));
  const directories = [".agents", ".claude"].map((root) => path.join(directory, root, "skills", fixtureName));
  const write = async (description: string): Promise<void> => {
    for (const directory of directories) {
      await mkdir(directory, { recursive: true });
      const text = `---\nname: ${fixtureName}\ndescription: ${description}\nlicense: MIT\n---\n\nAnswer with one word.\n`;
      await writeFile(path.join(directory, "SKILL.md"), text);
    }
  };
  const remove = async (): Promise<void> => {
    for (const directory of directories) await rm(directory, { recursive: true, force: true });
  };
  await write(descriptions[0]);
  return { directory, write, remove };
}

/** An editor that is played. Each has its own connection to the agent. */
interface Variant {
  readonly name: string;
  /** A phrase about what the editor declares. */
  readonly about: string;
  readonly protocol: 1 | 2;
  readonly capabilities: object;
}

/** The editors that are played. @public */
export const variants: readonly Variant[] = [
  { name: "plain", about: "a v1 editor that declares nothing", protocol: 1, capabilities: {} },
  {
    name: "update",
    about: "a v1 editor that opts in to available_skills_update",
    protocol: 1,
    capabilities: { session: { skills: {} }, _meta: { [metaKey]: { commands: true } } },
  },
  {
    name: "notification",
    about: "a v1 editor that opts in to notifications with changes only, and declines commands",
    protocol: 1,
    capabilities: { _meta: { [metaKey]: { notification: true, deltas: true, commands: false } } },
  },
  { name: "v2", about: "a v2 editor that declares nothing", protocol: 2, capabilities: {} },
  {
    name: "v2-skill",
    about: "a v2 editor that declares skill entries",
    protocol: 2,
    capabilities: { session: { commands: { skill: {} } } },
  },
];

/** The params of `initialize`; a v2 request also has the fields that agents of v1 read. @public */
export function toInitializeParams({ protocol, capabilities }: Variant, version: string): object {
  const info = { name: judgeName, version };
  const v1 = { clientInfo: info, clientCapabilities: capabilities };
  return { protocolVersion: protocol, ...v1, ...(protocol === 2 && { info, capabilities }) };
}
