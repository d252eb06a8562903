import { type JsonObject, arrayOf, fieldsOf, isStrings } from "../client/json.ts";
import { negotiate, type Negotiation } from "../acp/negotiation.ts";
import {
  initialize,
  metaKey,
  sessionClose,
  sessionDelete,
  sessionFork,
  sessionLoad,
  sessionNew,
  sessionResume,
  sessionUpdate,
  skillsNotification,
  availableCommandsUpdate,
} from "../wire/methods.ts";
import { type TranscriptEntry, otherSide, type Side } from "./transcript.ts";
import { readAdvertisedCommand, readAirCommand, readYolopCommand } from "../client/advertised-command.ts";
import { isSkillsKind } from "../client/skills-update.ts";

/** A request, with its response if there is one. */
export interface Request {
  readonly from: Side;
  readonly line: number;
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
  response?: { readonly line: number; readonly result: unknown; readonly error: unknown };
}

/** A notification of the agent about a session, in any shape. */
export type RecordedUpdate = NonNullable<ReturnType<typeof readUpdate>>;

/** A message that is not allowed at its position. */
export interface UnexpectedMessage {
  readonly from: Side;
  readonly line: number;
  /** The fault of the message, as the end of a sentence. */
  readonly reason: string;
}

/** The input of rules: the requests, updates and sessions of one connection. */
export interface Exchange {
  /** The result of the negotiation in `initialize`, which decides about forms; undefined before the answer. */
  readonly negotiation: Pick<Negotiation, "protocol" | "optIn" | "takesSkillEntries" | "ownBlocks"> | undefined;
  readonly initialize: Request | undefined;
  readonly requests: readonly Request[];
  readonly updates: readonly RecordedUpdate[];
  readonly notifications: readonly { readonly from: Side; readonly line: number; readonly method: string }[];
  /** Lines that are no JSON-RPC messages. */
  readonly unreadable: readonly UnexpectedMessage[];
  /** Responses to no request, or second responses. */
  readonly unasked: readonly UnexpectedMessage[];
  /** The lines at which each session became known to the client, and was closed. */
  readonly sessions: ReadonlyMap<string, { readonly known: number; readonly closed?: number }>;
  readonly lastLine: number;
  /** The last line that the client wrote. It may leave without answering later lines. */
  readonly lastOfClient: number;
}

/** Sorts the entries of one connection into requests, notifications and updates. Never throws, whatever they contain. */
export function readExchange(entries: readonly TranscriptEntry[]): Exchange {
  const requests: Request[] = [];
  const open = new Map<string, Request>();
  const updates: RecordedUpdate[] = [];
  const notifications: { from: Side; line: number; method: string }[] = [];
  const unreadable: UnexpectedMessage[] = [];
  const unasked: UnexpectedMessage[] = [];
  /** The number of lines of each side that are not JSON: JSON-RPC wants an error without an id for each. */
  const garbled = { client: 0, agent: 0 };
  const keyOf = (from: Side, id: unknown): string => `${from} ${JSON.stringify(id)}`;

  function readMessage(from: Side, line: number, message: unknown): void {
    const fields = fieldsOf(message);
    if (fields === undefined) {
      unreadable.push({ from, line, reason: "is not a JSON object" });
      return;
    }
    const { id, method, params } = fields;
    if (fields["jsonrpc"] !== "2.0") unreadable.push({ from, line, reason: 'lacks "jsonrpc": "2.0"' });
    if (typeof method === "string") {
      if (id !== undefined) {
        const request = { from, line, id, method, params };
        requests.push(request);
        open.set(keyOf(from, id), request);
        return;
      }
      notifications.push({ from, line, method });
      const update = from === "agent" ? readUpdate(line, method, params) : undefined;
      if (update !== undefined) updates.push(update);
    } else if (method === undefined && "id" in fields && ("result" in fields || "error" in fields)) {
      const other = otherSide(from);
      const key = keyOf(other, id);
      const request = open.get(key);
      if (request === undefined) {
        if (id === null && "error" in fields && garbled[other] > 0) garbled[other]--;
        else unasked.push({ from, line, reason: `answers no open request: id ${JSON.stringify(id)}` });
      } else request.response = { line, result: fields["result"], error: fields["error"] };
      open.delete(key);
    } else unreadable.push({ from, line, reason: "is neither a request, nor a notification, nor a response" });
  }

  for (const { from, line, message, text } of entries) {
    if (text !== undefined) {
      garbled[from]++;
      unreadable.push({ from, line, reason: `is not JSON: ${JSON.stringify(text.slice(0, 80))}` });
    } else if (Array.isArray(message)) for (const one of message as unknown[]) readMessage(from, line, one);
    else readMessage(from, line, message);
  }

  const initialized = requests.find(({ from, method }) => from === "client" && method === initialize);
  const answer = initialized?.response?.result;
  return {
    negotiation: answer === undefined ? undefined : negotiate(initialized?.params, answer),
    initialize: initialized,
    requests,
    updates,
    notifications,
    unreadable,
    unasked,
    sessions: readSessions(requests),
    lastLine: entries.at(-1)?.line ?? 1,
    lastOfClient: entries.findLast(({ from }) => from === "client")?.line ?? 0,
  };
}

function readUpdate(line: number, method: string, given: unknown) {
  if (method !== sessionUpdate && method !== skillsNotification) return undefined;
  const params = fieldsOf(given) ?? {};
  const nested = fieldsOf(params["update"]);
  const isFlat = nested === undefined && params["sessionUpdate"] !== undefined;
  const update = nested ?? params;
  const kind = update["sessionUpdate"];
  const { sessionId } = params;
  return {
    line,
    method,
    sessionId: typeof sessionId === "string" ? sessionId : "",
    params,
    /** `sessionUpdate`; empty if there is none. */
    kind: typeof kind === "string" ? kind : "",
    update,
    /** Whether the fields of the update are in `params` itself. */
    isFlat,
  };
}

function readSessions(requests: readonly Request[]): Exchange["sessions"] {
  const sessions = new Map<string, { known: number; closed?: number }>();
  for (const { from, method, params, line, response } of requests) {
    if (from !== "client") continue;
    const named = fieldsOf(params)?.["sessionId"];
    if (method === sessionNew || method === sessionFork) {
      const made = fieldsOf(response?.result)?.["sessionId"];
      if (typeof made === "string" && response !== undefined) sessions.set(made, { known: response.line });
    } else if (typeof named === "string") {
      const before = sessions.get(named) ?? { known: line };
      if (method === sessionLoad || method === sessionResume) sessions.set(named, { known: before.known });
      else if ((method === sessionClose || method === sessionDelete) && response?.result !== undefined)
        sessions.set(named, { ...before, closed: response.line });
      else sessions.set(named, before);
    }
  }
  return sessions;
}

/** The advertisement in the initialize response, not validated. */
export function advertisedIn({ initialize: request }: Exchange): unknown {
  const result = fieldsOf(request?.response?.result);
  const capabilities = fieldsOf(result?.["agentCapabilities"]) ?? fieldsOf(result?.["capabilities"]);
  return fieldsOf(capabilities?.["_meta"])?.[metaKey];
}

/** The name of this kit, as a client and as an agent. */
export const judgeName = "acp-skills-conformance";

/** The side that this kit plays. Its violations are deliberate. */
export function judgeIn({ initialize: request }: Exchange): Side | undefined {
  const params = fieldsOf(request?.params);
  if (fieldsOf(params?.["clientInfo"] ?? params?.["info"])?.["name"] === judgeName) return "client";
  const result = fieldsOf(request?.response?.result);
  return fieldsOf(result?.["agentInfo"] ?? result?.["info"])?.["name"] === judgeName ? "agent" : undefined;
}

/** A skill as it was sent, not validated. */
export interface SentSkill {
  readonly line: number;
  readonly skill: unknown;
  /** The position of the skill, for a sentence. */
  readonly where: string;
}

/** All updates, whatever they carry. */
export function allUpdates({ updates }: Exchange): readonly RecordedUpdate[] {
  return updates;
}

/** Updates that carry the list of skills itself, or its changes. */
export function skillUpdates({ updates }: Exchange): readonly RecordedUpdate[] {
  return updates.filter(({ kind }) => isSkillsKind(kind));
}

/** Updates that carry a list of commands. */
export function commandUpdates({ updates }: Exchange): readonly RecordedUpdate[] {
  return updates.filter(({ kind }) => kind === availableCommandsUpdate);
}

/** The commands of all lists, with their index; entries that are no objects are left out. */
export function sentCommands(exchange: Exchange): readonly SentCommand[] {
  return commandUpdates(exchange).flatMap(commandsIn);
}

export function isDelta({ update }: RecordedUpdate): boolean {
  return update["availableSkills"] === undefined && deltaFields.some((field) => update[field] !== undefined);
}

export const deltaFields = ["added", "changed", "removed"] as const;

/** Every skill that the agent sent as an AvailableSkill. */
export function sentSkills(exchange: Exchange): readonly SentSkill[] {
  return skillUpdates(exchange).flatMap(({ line, update }) =>
    ["availableSkills", "added", "changed"].flatMap((field) =>
      arrayOf(update[field]).map((skill, index) => {
        const name = fieldsOf(skill)?.["name"];
        const shown = typeof name === "string" ? ` (${JSON.stringify(name.slice(0, 64))})` : "";
        return { line, skill, where: `${field}[${index}]${shown}` };
      }),
    ),
  );
}

interface SentCommand {
  readonly line: number;
  readonly index: number;
  readonly command: JsonObject;
}

/** The commands of a list that are objects. */
export function commandsIn({ line, update }: RecordedUpdate): readonly SentCommand[] {
  return arrayOf(update["availableCommands"]).flatMap((value, index) => {
    const command = fieldsOf(value);
    return command === undefined ? [] : [{ line, index, command }];
  });
}

/** The facts about its skill that a command has under the key of acp-skills; undefined for other commands. */
export function factsIn(command: JsonObject): JsonObject | undefined {
  return fieldsOf(fieldsOf(command["_meta"])?.[metaKey]);
}

/** Whether an entry of a list of commands is a `skill` entry of ACP v2. */
export function isSkillEntry(command: JsonObject): boolean {
  return command["type"] === "skill";
}

/** Whether a command is marked as a skill: by its type, by the key of acp-skills, valid or not, or by the mark of another agent. */
export function isMarkedAsSkill(command: JsonObject): boolean {
  const read = readAdvertisedCommand(command, "");
  return (
    isSkillEntry(command) ||
    factsIn(command) !== undefined ||
    (read !== undefined && (readAirCommand(read) ?? readYolopCommand(read)) !== undefined)
  );
}

export function stringsIn(value: unknown): readonly string[] {
  return isStrings(value) ? value : [];
}
