import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { openProblemLog } from "../skills/log-problems.ts";
import type { ToldOnce } from "../told-once.ts";
import { availableCommandsUpdate } from "../wire/methods.ts";
import { openEarlyCommands } from "./early-commands.ts";
import type { Notification } from "./emission.ts";
import type { Forms, Negotiation } from "./negotiation.ts";
import type { Opening } from "./openings.ts";
import { type JsonRecord, recordAt } from "./raw-message.ts";
import { openSession, type Session } from "./session.ts";
import { openShownSkills } from "./shown-skills.ts";
import { toVerdict, untouched, type Verdict } from "./verdict.ts";

export interface SessionsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly tellOnce: ToldOnce["tellOnce"];
  /** Puts a message of ours on its way to the editor. */
  readonly send: (message: Notification) => void;
  /** Told of a fault of ours, so that it ends nothing else. */
  readonly fault: (error: unknown) => void;
}

/** The sessions of one connection, from the response that opened each until it ends. */
export interface Sessions {
  readonly byId: ReadonlyMap<string, Session>;
  /** One session, by what a message calls it. */
  find(params: JsonRecord): Session | undefined;
  /** The agent answered a request that opens a session. One that is opened again takes the place of the first. */
  begin(id: string, opening: Opening, agreed: Agreed, result: unknown): void;
  end(id: string): void;
  /** The agent told something of a session, maybe its commands, and maybe before the session is known. */
  agentTold(message: unknown, params: JsonRecord): Verdict;
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

export function openSessions({ clock, log, tellOnce, send, fault }: SessionsOptions): Sessions {
  const byId = new Map<string, Session>();
  /** The request that each session's latest turn began with. */
  const turns = new Map<string, string | number>();
  const listedEarly = openEarlyCommands();
  const shown = openShownSkills();
  const logProblems = openProblemLog(log);

  function find({ sessionId }: JsonRecord): Session | undefined {
    return typeof sessionId === "string" ? byId.get(sessionId) : undefined;
  }

  return {
    byId,
    find,
    begin(id, opening, agreed, result) {
      const { skills, tools } = opening;
      opening.isOver = true;
      tools?.begin(id);
      const before = byId.get(id);
      const early = listedEarly.take(id);
      const inResponse = recordAt({ result }, "result")?.["availableCommands"];
      const agentCommands = Array.isArray(inResponse)
        ? (inResponse as unknown[])
        : (early ?? before?.agentCommands() ?? []);
      const context = { id, skills, tools, ...agreed, agentCommands, shown, clock, send, tellOnce, logProblems, fault };
      const session = openSession(context);
      before?.close();
      byId.set(id, session);
    },
    end(id) {
      byId.get(id)?.close();
      byId.delete(id);
      turns.delete(id);
    },
    agentTold(message, params) {
      const { sessionId } = params;
      const update = recordAt(params, "update");
      const commands = update?.["availableCommands"];
      const isList = update?.["sessionUpdate"] === availableCommandsUpdate && Array.isArray(commands);
      if (!isList || typeof sessionId !== "string") return untouched;
      const session = byId.get(sessionId);
      if (session !== undefined) return toVerdict(session.agentListed(commands, message));
      listedEarly.add(sessionId, commands);
      return untouched;
    },
    turnBegan(params, request) {
      const { sessionId } = params;
      if (typeof sessionId === "string" && byId.has(sessionId)) turns.set(sessionId, request);
    },
    turnCancelled(params) {
      find(params)?.tools?.cancel();
    },
    requestCancelled(request) {
      for (const [id, began] of turns) if (began === request) byId.get(id)?.tools?.cancel();
    },
    close() {
      for (const session of byId.values()) session.close();
      byId.clear();
      turns.clear();
      listedEarly.clear();
    },
  };
}
