import type { NotificationFault, ParsedNotification, StoredSkill } from "../forms/notification.ts";
import { readAdvertisement, type SkillsAdvertisement, takesSkillBlocks } from "../initialize.ts";
import { type JsonObject, fieldsOf } from "../json.ts";
import {
  problemsNotification,
  availableCommandsUpdate,
  sessionUpdate,
  skillsNotification,
} from "../../wire/methods.ts";
import { applyNotification, emptySession, type SessionState, type SkillSession } from "./session.ts";
import { readCommandList } from "../forms/command-list.ts";
import type { EntryContext, StoreLimits } from "../forms/entries.ts";
import { isSkillsKind, readSkillsList, readUpdateParams } from "../skills-update.ts";

/** What an agent said of itself when the connection was initialized. */
export interface AgentCapabilities {
  /** The key of the connection. */
  readonly agent: string;
  /** The name that the agent gave itself. */
  readonly name?: string | undefined;
  readonly protocolVersion: number;
  /** Undefined if the agent does not use acp-skills. */
  readonly advertisement?: SkillsAdvertisement | undefined;
  /** Whether it takes `skill` blocks in prompts. Typed SDK 2.4 clients drop what says so: give the store the stream. */
  readonly skillBlocks: boolean;
  /** Whether the editor asked for skills, see `optIn`; undefined where its request was not seen. */
  readonly optedIn?: boolean | undefined;
}

/** A content block of a prompt. `skill` is in the RFD "Agent Skills" for ACP v2, not in the types of SDK 2.4. */
export type InvocationBlock =
  { readonly type: "skill"; readonly name: string } | { readonly type: "text"; readonly text: string };

const maxName = 200;

/** What is wrong with a message of an agent. */
export interface StoreProblem extends Omit<NotificationFault, "code"> {
  readonly code: NotificationFault["code"] | "TOO_MANY_SESSIONS";
  readonly agent: string;
  readonly sessionId?: string | undefined;
}

/** The state of one connection. Its methods return whether anything may have changed; they never throw for a JSON value. */
export class ConnectedAgent {
  readonly #agent: string;
  readonly #limits: StoreLimits;
  readonly #sessions = new Map<string, SessionState>();
  /** Ids of sessions, the least recently updated first. */
  readonly #recent = new Set<string>();
  /** What the last request to initialize asked for. */
  optedIn: boolean | undefined;
  capabilities: AgentCapabilities | undefined;
  #dropped = 0;

  constructor(agent: string, limits: StoreLimits) {
    this.#agent = agent;
    this.#limits = limits;
  }

  get sessions(): readonly SkillSession[] {
    return Array.from(this.#sessions.values(), ({ session }) => session);
  }

  get problems(): readonly StoreProblem[] {
    const agent = this.#agent;
    const all: StoreProblem[] = [];
    for (const [sessionId, { faults }] of this.#sessions)
      for (const fault of [...faults.list, ...faults.commands]) all.push({ ...fault, agent, sessionId });
    const message = `${this.#dropped} sessions dropped`;
    if (this.#dropped > 0) all.unshift({ code: "TOO_MANY_SESSIONS", place: "", message, agent });
    return all.slice(0, this.#limits.problems);
  }

  /** Reads the result of `initialize`. A new one is a new connection. */
  initialized(result: JsonObject): boolean {
    const { protocolVersion, agentInfo, info } = result;
    if (typeof protocolVersion !== "number") return false;
    const { name } = fieldsOf(agentInfo) ?? fieldsOf(info) ?? {};
    this.#sessions.clear();
    this.#recent.clear();
    this.#dropped = 0;
    const advertisement = readAdvertisement(result);
    this.capabilities = {
      agent: this.#agent,
      name: typeof name === "string" ? name.slice(0, maxName) : undefined,
      protocolVersion,
      advertisement: advertisement && shortened(advertisement),
      skillBlocks: takesSkillBlocks(result),
      optedIn: this.optedIn,
    };
    return true;
  }

  /** Reads a notification. */
  notified(method: unknown, params: unknown): boolean {
    if (isMethod(method, problemsNotification)) return this.#count(fieldsOf(params) ?? {});
    const notification = readNotification(method, params, { agent: this.#agent, limits: this.#limits });
    if (notification !== undefined) this.#apply(notification);
    return notification !== undefined;
  }

  /** The content that invokes a skill in a prompt. */
  invoke({ name, command = name, form }: StoredSkill, words: string): readonly InvocationBlock[] {
    // An agent that sends such entries takes blocks.
    if (form === "skill-entry" || this.capabilities?.skillBlocks === true)
      return [{ type: "skill", name: command }, ...(words === "" ? [] : [{ type: "text", text: words } as const])];
    const called = command.startsWith("$") ? command : `/${command}`;
    return [{ type: "text", text: `${called} ${words}`.trim() }];
  }

  release(sessionId: unknown): boolean {
    return typeof sessionId === "string" && this.#recent.delete(sessionId) && this.#sessions.delete(sessionId);
  }

  #apply(notification: ParsedNotification): void {
    const { sessionId } = notification;
    const before = this.#sessions.get(sessionId) ?? emptySession(this.#agent, sessionId);
    this.#store(applyNotification(before, notification, this.#limits.skills));
  }

  #count({ sessionId, errors, warnings }: JsonObject): boolean {
    if (typeof sessionId !== "string" || typeof errors !== "number" || typeof warnings !== "number") return false;
    const state = this.#sessions.get(sessionId) ?? emptySession(this.#agent, sessionId);
    this.#store({ ...state, session: { ...state.session, counts: { errors, warnings } } });
    return true;
  }

  /** Drops the oldest sessions where there are too many, but never the one that is stored now. */
  #store(state: SessionState): void {
    const { sessionId } = state.session;
    this.#sessions.set(sessionId, state);
    this.#recent.delete(sessionId);
    this.#recent.add(sessionId);
    let size = 0;
    for (const each of this.#sessions.values()) size += each.size;
    for (const oldest of this.#recent) {
      const fits = this.#sessions.size <= this.#limits.sessions && size <= this.#limits.allText;
      if (fits || oldest === sessionId) return;
      size -= this.#sessions.get(oldest)?.size ?? 0;
      this.release(oldest);
      this.#dropped++;
    }
  }
}

/** Agents are untrusted: only so much of what it says is stored. */
function shortened({ version, tools, update }: SkillsAdvertisement): SkillsAdvertisement {
  return { version: version.slice(0, maxName), tools: tools.slice(0, maxName), update: update.slice(0, maxName) };
}

export const defaultStoreLimits: StoreLimits = /* @__PURE__ */ Object.freeze({
  sessions: 100,
  skills: 20_000,
  text: 16_384,
  allText: 64 * 1024 * 1024,
  problems: 200,
});

/** SDK 0.4.5 strips the `_` from the methods of extension notifications. */
function isMethod(method: unknown, expected: string): boolean {
  return method === expected || (typeof method === "string" && `_${method}` === expected);
}

/** Reads the skills in a notification of an agent; undefined if it has none. Never throws for a JSON value. */
function readNotification(method: unknown, params: unknown, source: EntryContext): ParsedNotification | undefined {
  const isNotification = isMethod(method, skillsNotification);
  if (!isNotification && method !== sessionUpdate) return undefined;
  const found = readUpdateParams(params);
  if (found === undefined) return undefined;
  if (isSkillsKind(found.kind)) return readSkillsList(found, isNotification, source);
  return found.kind === availableCommandsUpdate ? readCommandList(found, source) : undefined;
}
