import type { Clock } from "../../base/clock.ts";
import {
  availableCommandsUpdate,
  sessionInfoUpdate,
  sessionUpdate,
  toolCall,
  toolCallUpdate,
  userMessageChunk,
} from "../../wire/methods.ts";
import { describeToPerson } from "../tools/call-cards.ts";
import { openEarlyCommands } from "../announce/early-commands.ts";
import { commandsAmendments, type Notification } from "../announce/emission.ts";
import type { Forms, Negotiation } from "./negotiation.ts";
import type { Opening } from "./openings.ts";
import { type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import type { OwnCall } from "../tools/recognise-call.ts";
import { servedTools } from "../tools/served-tools.ts";
import type { ListAmendments, ServiceConnection } from "../service/skill-service.ts";
import { openPromptsToldAgain, restoreTitleTold } from "../prompt/told-again.ts";
import { kept, toVerdict, untouched, type Verdict } from "../verdict.ts";
import { withinTime } from "./within-time.ts";

export interface SessionsOptions {
  readonly service: ServiceConnection;
  readonly clock: Clock;
  readonly release: (opening: Opening) => void;
  /** Puts a message of ours on its way to the editor, behind the one that is looked at. */
  readonly tell: (message: Notification) => void;
}

/** A session as the relay knows it, from the response that opened it until it ends. */
export interface OpenedSession {
  readonly opening: Opening;
  /** The agent's own commands, as it listed them last. */
  agentCommands: readonly unknown[];
  /** The editor has named it, and has prompted it. */
  isKnown: boolean;
  isPrompted: boolean;
  /** A prompt has waited for the first reading of the disk. */
  hasWaited: boolean;
}

/** The sessions of one connection. */
export interface Sessions {
  /** One session, by what a message calls it. */
  find(params: JsonRecord): OpenedSession | undefined;
  /** The agent answered a request that opens a session. One that is opened again takes the place of the first. */
  begin(id: string, opening: Opening, agreed: Agreed, result: unknown): void;
  /** A session is about to be loaded. */
  loads(id: string, opening: Opening): void;
  /** It was not. */
  forget(opening: Opening): void;
  /** The editor knows of a call of ours. */
  noteCall(opening: Opening, toolCall: JsonRecord, call: OwnCall): void;
  end(id: string): void;
  /** The agent told something of a session, maybe its commands, and maybe before the session is known. */
  agentTold(message: unknown, params: JsonRecord): Verdict | Promise<Verdict>;
  /** The editor sent a message that names a session. */
  editorNamed(session: OpenedSession, isPrompt: boolean): void;
  /** A turn of the session began with this request. */
  turnBegan(params: JsonRecord, request: string | number): void;
  /** What the model has running of our tools ends, whatever its agent makes of the cancellation. */
  turnCancelled(params: JsonRecord): void;
  /** The same where the cancellation names the request that the turn began with. */
  requestCancelled(request: unknown): void;
  close(): void;
}

/** What was agreed upon when the connection began. */
export interface Agreed {
  readonly negotiation: Negotiation;
  readonly forms: Forms;
}

/** How long an agent's list of commands waits for ours to be added; without them it passes as it came, and is sent again. */
const mergingTime = 100;

export function openSessions({ service, clock, release, tell }: SessionsOptions): Sessions {
  const byId = new Map<string, OpenedSession>();
  /** The request that each session's latest turn began with. */
  const turns = new Map<string, string | number>();
  const listedEarly = openEarlyCommands();
  const toldAgain = openPromptsToldAgain();
  /** Sessions that are being loaded: their history is told before the response that opens them. */
  const loading = new Map<string, Opening>();

  function find({ sessionId }: JsonRecord): OpenedSession | undefined {
    return typeof sessionId === "string" ? byId.get(sessionId) : undefined;
  }

  /** Something that only looked like the beginning of what is ours: the person typed it. */
  function tellHeldBack(sessionId: string): void {
    const text = toldAgain.other(sessionId);
    if (text === "") return;
    const update = { sessionUpdate: userMessageChunk, content: { type: "text", text } };
    tell({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
  }

  function callTold(sessionId: string, update: JsonRecord): Verdict {
    const opening = byId.get(sessionId)?.opening ?? loading.get(sessionId);
    const call = opening?.calls?.learn(update);
    if (opening === undefined || call === undefined) return untouched;
    noteCall(opening, update, call);
    return toVerdict(describeToPerson(update, ["params", "update"], call));
  }

  function noteCall({ key }: Opening, { toolCallId, status }: JsonRecord, { tool, input }: OwnCall): void {
    if (typeof toolCallId !== "string" || servedTools.get(tool)?.executes !== true) return;
    service.callTold(key, { toolCallId, tool, input, isOver: status === "completed" || status === "failed" });
  }

  function cancelTurn(session: OpenedSession | undefined): void {
    if (session !== undefined) service.cancelTurn(session.opening.key);
  }

  async function mergeInTime(
    { opening: { key } }: OpenedSession,
    message: unknown,
    merging: Promise<ListAmendments | undefined>,
  ): Promise<Verdict> {
    const merged = await withinTime(
      merging.then((amendments) => ({ amendments })),
      clock,
      mergingTime,
    );
    if (merged === undefined) service.listPassed(key);
    if (merged?.amendments === undefined) return untouched;
    return toVerdict(commandsAmendments(message, merged.amendments));
  }

  return {
    find,
    loads(id, opening) {
      loading.set(id, opening);
    },
    forget(opening) {
      for (const [id, loaded] of loading) if (loaded === opening) loading.delete(id);
    },
    noteCall,
    begin(id, opening, agreed, result) {
      opening.isOver = true;
      const before = byId.get(id);
      const early = listedEarly.take(id);
      const inResponse = recordAt({ result }, "result")?.["availableCommands"];
      const agentCommands = Array.isArray(inResponse)
        ? (inResponse as unknown[])
        : (early ?? before?.agentCommands ?? []);
      loading.delete(id);
      tellHeldBack(id);
      const lesson = toldAgain.takeLesson(id);
      if (lesson !== undefined)
        opening.lesson.heard(lesson, (ticket) => {
          service.taught(opening.key, ticket);
        });
      service.begin(opening.key, { sessionId: id, ...agreed, agentCommands });
      if (before !== undefined) release(before.opening);
      byId.set(id, { opening, agentCommands, isKnown: false, isPrompted: false, hasWaited: false });
    },
    end(id) {
      const session = byId.get(id);
      if (session !== undefined) release(session.opening);
      byId.delete(id);
      turns.delete(id);
      toldAgain.end(id);
    },
    agentTold(message, params) {
      const { sessionId } = params;
      const update = recordAt(params, "update");
      const commands = update?.["availableCommands"];
      if (typeof sessionId !== "string" || update === undefined) return untouched;
      const kind = update["sessionUpdate"];
      if (kind === userMessageChunk) {
        const told = toldAgain.chunk(sessionId, update);
        return told.shown ? toVerdict(told.amendments) : kept;
      }
      tellHeldBack(sessionId);
      if (kind === sessionInfoUpdate) return toVerdict(restoreTitleTold(update));
      if (kind === toolCall || kind === toolCallUpdate) return callTold(sessionId, update);
      if (kind !== availableCommandsUpdate || !Array.isArray(commands)) return untouched;
      const session = byId.get(sessionId);
      if (session === undefined) {
        listedEarly.add(sessionId, commands);
        return untouched;
      }
      session.agentCommands = commands;
      const merged = service.agentListed(session.opening.key, commands);
      if (merged instanceof Promise) return mergeInTime(session, message, merged);
      return merged === undefined ? untouched : toVerdict(commandsAmendments(message, merged));
    },
    editorNamed(session, isPrompt) {
      if (session.isKnown && (session.isPrompted || !isPrompt)) return;
      session.isKnown = true;
      session.isPrompted ||= isPrompt;
      service.heard(session.opening.key, isPrompt);
    },
    turnBegan(params, request) {
      const { sessionId } = params;
      if (typeof sessionId === "string" && byId.has(sessionId)) turns.set(sessionId, request);
    },
    turnCancelled(params) {
      cancelTurn(find(params));
    },
    requestCancelled(request) {
      for (const [id, began] of turns) if (began === request) cancelTurn(byId.get(id));
    },
    close() {
      byId.clear();
      loading.clear();
      turns.clear();
      listedEarly.clear();
    },
  };
}
