import { isDeepStrictEqual } from "node:util";
import { parseIfJson } from "../../../base/json/json-value.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { type JsonRecord, isGiven, isRecord, recordAt } from "../../messages/raw-message.ts";
import { maxJsonLength, resultIn } from "../../messages/call-result.ts";
import { type AgentFacts, type Spelling, spell, toWord, usualSpellings } from "../../negotiation/agents.ts";
import { servedTools } from "../../../wire/tools.ts";
import { type BlobFacts, isFinal, type OwnCall } from "../../messages/describe-call.ts";

/** The MCP server of acp-skills in one session. */
export interface KnownServer {
  readonly name: string;
  /** The names of the editor's own servers. */
  readonly others: readonly string[];
}

/** Recognises the tool of acp-skills that a tool call names. Undefined if the call names none or is contradictory. */
export function recogniseCall(toolCall: JsonRecord, server: KnownServer, facts: AgentFacts): OwnCall | undefined {
  const meta = recordAt(toolCall, "_meta");
  const claude = recordAt(meta, "claudeCode");
  const servedBy = [recordAt(claude, "mcpServer")?.["name"], meta?.["serverId"]].filter(isGiven);
  if (servedBy.some((name) => name !== server.name)) return undefined;
  const { wrapped } = unwrap(toolCall["rawInput"]);
  const deferred = deferredCall(toolCall, facts);
  const names = deferred
    ? [deferred.name]
    : [toolCall["name"], claude?.["toolName"], meta?.["toolName"]].filter(isGiven);
  const spelt = wrapped && wrapped.server === server.name && servedTools.has(wrapped.tool) ? wrapped.tool : undefined;
  const [name] = names.length > 0 ? names : [toolCall["title"]];
  const tool = names.every((other) => other === name) ? namedTool(name, server, facts) : undefined;
  if (tool === undefined || (wrapped !== undefined && spelt !== tool)) return undefined;
  const input = deferred ? deferred.input : inputOf(toolCall);
  // A model can choose a title, such as a shell command, so a matching kind or input must confirm it.
  const isSure =
    names.length > 0 ||
    spelt === tool ||
    kindsOfUnknownTools.has(toolCall["kind"]) ||
    // Other texts, which the agent adds to calls of any tool, confirm no title.
    isAdded(toolCall["content"], tool, server, facts, namesItsTool) ||
    isInputOf(servedTools.get(tool)?.parameters, input);
  return isSure ? { tool, input } : undefined;
}

/** Finds the call that the agent replays as a call of its own tool for deferred tools; undefined for other calls. */
function deferredCall(toolCall: JsonRecord, { deferral }: AgentFacts) {
  const { name, arguments: given } = recordAt(toolCall, "rawInput") ?? {};
  const isIt = deferral !== undefined && recordAt(toolCall, "_meta")?.["toolName"] === deferral.call;
  return isIt && typeof name === "string" && isRecord(given) ? { name, input: given } : undefined;
}

/** Whether a text that an agent adds to requests names the tool. */
export const namesItsTool = (text: Spelling): boolean => text.includes("{tool}");

/** Whether the content is only a text that the agent adds to every such call, among the texts that `isMeant` accepts. */
export function isAdded(
  content: unknown,
  tool: string,
  { name }: KnownServer,
  { tools, adds }: AgentFacts,
  isMeant: (text: Spelling) => boolean = () => true,
): boolean {
  const called = tools === undefined ? tool : spell(tools.forModel, name, tool);
  return adds
    .filter(isMeant)
    .map((text) => [{ type: "content", content: { type: "text", text: text.replace("{tool}", called) } }])
    .some((said) => isDeepStrictEqual(content, said));
}

/** Whether an input has only these parameters. */
export function isInputOf(parameters: readonly string[] | undefined, input: JsonRecord | undefined): boolean {
  return input !== undefined && Object.keys(input).every((key) => parameters?.includes(key));
}

/** Finds the tool of acp-skills that agents spell like this name. Undefined if another server's tool could have the same name. */
export function namedTool(name: unknown, server: KnownServer, facts: AgentFacts): string | undefined {
  if (typeof name !== "string") return undefined;
  const spellings = facts.tools?.forEditor ?? usualSpellings;
  for (const tool of servedTools.keys()) {
    for (const spelling of spellings) {
      if (name === spell(spelling, server.name, tool))
        return isOnlyOne(server, spelling) && !isOfOther(name, server, spellings) ? tool : undefined;
    }
  }
  return undefined;
}

/** The pattern of a tool's plain name, without a server's name. */
const plainTool = /^(?!mcp[_.])[a-z0-9]+(?:[_-][a-z0-9]+)*$/i;

/** Whether another server could have a tool that an agent spells like this name, in any of its spellings. */
function isOfOther(name: string, { others }: KnownServer, spellings: readonly Spelling[]): boolean {
  return others.some((other) =>
    spellings.some((spelling) => {
      const [before = "", behind = ""] = spell(spelling, other, "\0").split("\0");
      const tool = name.slice(before.length, name.length - behind.length);
      return name === `${before}${tool}${behind}` && plainTool.test(tool);
    }),
  );
}

/** Unwraps arguments of the form `{mcpInput}` or `{server, tool, arguments}`. */
function unwrap(rawInput: unknown): {
  readonly wrapped?: { readonly server: string; readonly tool: string };
  readonly input?: JsonRecord;
} {
  if (!isRecord(rawInput)) return {};
  const { mcpInput, server, tool, arguments: given, ...more } = rawInput;
  if (Object.keys(more).length > 0) return {};
  if (isRecord(mcpInput)) return { input: mcpInput };
  if (typeof server !== "string" || typeof tool !== "string") return {};
  return { wrapped: { server, tool }, input: isRecord(given) ? given : {} };
}

/** Reads the input of a call, from a plain or wrapped object, or from one JSON text. Undefined if it is empty. */
export function inputOf({ rawInput, content, status }: JsonRecord): JsonRecord | undefined {
  if (isGiven(rawInput)) {
    const { input } = unwrap(rawInput);
    if (input !== undefined) return input;
    return isRecord(rawInput) && Object.keys(rawInput).length > 0 ? rawInput : undefined;
  }
  // The content of a call that is running or has ended is output, not input.
  if (isGiven(status) && status !== "pending") return undefined;
  const [part, ...more] = Array.isArray(content) ? (content as unknown[]) : [];
  const text = more.length === 0 ? recordAt(part, "content")?.["text"] : undefined;
  if (typeof text !== "string" || !text.startsWith("{") || text.length > maxJsonLength) return undefined;
  const value = parseIfJson(text);
  return isRecord(value) ? value : undefined;
}

const kindsOfUnknownTools: ReadonlySet<unknown> = new Set(["other", "read", "search", "fetch"]);

/** Whether no other server's tools could have the same name: `skills` with `list_x`, and `skills_list` with `x`. */
function isOnlyOne({ name, others }: KnownServer, spelling: Spelling): boolean {
  const word = toWord(name);
  const [, behind] = /S0(.*)T0/.exec(spell(spelling, "S0", "T0")) ?? [];
  const [, before] = /T0(.*)S0$/.exec(spell(spelling, "S0", "T0")) ?? [];
  return !others.some((server) => {
    const other = toWord(server);
    if (other === word || (behind !== undefined && other.startsWith(`${word}${behind}`))) return true;
    return before !== undefined && other.endsWith(`${before}${word}`);
  });
}

/** The maximum number of calls, and of blobs, that are remembered per session. */
const limit = 256;

/** The calls of acp-skills' tools that a session's editor knows. Later messages may have only the id of a call. */
export class KnownCalls {
  readonly server: KnownServer;
  readonly facts: AgentFacts;
  readonly #calls = new LimitedMap<unknown, OwnCall>(limit);
  readonly #blobs: LimitedMap<string, BlobFacts>;
  #open: readonly string[] | undefined;

  constructor(server: KnownServer, facts: AgentFacts, blobs = new LimitedMap<string, BlobFacts>(limit)) {
    this.server = server;
    this.facts = facts;
    this.#blobs = blobs;
  }

  /** Creates the empty record of calls of a subagent of the session, with the same server and blobs. */
  ofSubagent(): KnownCalls {
    return new KnownCalls(this.server, this.facts, this.#blobs);
  }

  /** Records a tool call or its update. Returns the known facts about the call; undefined if it calls no tool of acp-skills. */
  record(toolCall: JsonRecord): OwnCall | undefined {
    const { toolCallId, status } = toolCall;
    if (typeof toolCallId !== "string") return undefined;
    const found = recogniseCall(toolCall, this.server, this.facts);
    // The id of a recorded call may have been reused.
    const isOther = found === undefined && (toolCall["sessionUpdate"] === "tool_call" || namesTool(toolCall));
    const before = isOther ? undefined : this.#calls.get(toolCallId);
    const tool = found?.tool ?? before?.tool;
    const isInput = this.facts.streamsInput && status === "in_progress";
    const reported = inputOf(isInput ? { ...toolCall, status: "pending" } : toolCall);
    const input = found?.input ?? reported ?? (before?.tool === tool ? before?.input : undefined);
    const call = tool === undefined ? undefined : { tool, input, ...(this.#blobs.size > 0 && { blobs: this.#blobs }) };
    if (call !== undefined && status === "completed") this.#learn(call, toolCall);
    const isOpen = call !== undefined && !isFinal(status);
    if (isOpen !== this.#calls.has(toolCallId)) this.#open = undefined;
    if (isOpen) this.#calls.set(toolCallId, call);
    else this.#calls.delete(toolCallId);
    // The code of a call is shown once.
    const isNew = tool === "run_code" && input !== undefined && before?.input === undefined;
    return call !== undefined && isNew ? { ...call, isNew } : call;
  }

  /** Remembers the facts about a created blob. */
  #learn({ tool, input }: OwnCall, ended: JsonRecord): void {
    const { blob_id: id, size_bytes: size } = (tool === "create_blob" && resultIn(ended)) || {};
    if (typeof id !== "string") return;
    const { path, kind } = input ?? {};
    this.learnBlob(id, {
      ...(typeof size === "number" && { size }),
      ...(typeof kind === "string" && { kind }),
      ...(typeof path === "string" && { path }),
    });
  }

  learnBlob(id: string, facts: BlobFacts): void {
    this.#blobs.set(id, facts);
  }

  /** The ids of the calls that have not ended. The same array is returned until the ids change. */
  get open(): readonly string[] {
    return (this.#open ??= [...this.#calls.keys()].map(String));
  }

  /** Forgets a call whose end will not be reported. */
  forget(toolCallId: unknown): void {
    if (this.#calls.delete(toolCallId)) this.#open = undefined;
  }

  find(toolCallId: unknown): OwnCall | undefined {
    return this.#calls.get(toolCallId);
  }
}

/** Whether a message names its tool in a field other than the title. */
export function namesTool(toolCall: JsonRecord): boolean {
  const meta = recordAt(toolCall, "_meta");
  return [toolCall["name"], meta?.["toolName"], recordAt(meta, "claudeCode")?.["toolName"]].some(isGiven);
}
