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

/** The capabilities that an agent announced when the connection was initialized. */
export interface AgentCapabilities {
  /** The key of the connection. */
  readonly agent: string;
  /** The name that the agent gave itself. */
  readonly name?: string | undefined;
  readonly protocolVersion: number;
  /** The advertisement of acp-skills; undefined if the agent does not use it. */
  readonly advertisement?: SkillsAdvertisement | undefined;
  /** Whether the agent takes `skill` blocks in prompts. Typed SDK 2.4 clients drop this field: give the store the stream. */
  readonly skillBlocks: boolean;
  /** Whether the editor asked for skills, see `optIn`; undefined if its request was not seen. */
  readonly optedIn?: boolean | undefined;
}

/** A content block of a prompt. `skill` is in the RFD "Agent Skills" for ACP v2, not in the types of SDK 2.4. */
export type InvocationBlock =
  { readonly type: "skill"; readonly name: string } | { readonly type: "text"; readonly text: string };

const maxName = 200;

/** A fault in a message of an agent, or in the number of its sessions. */
export interface StoreProblem extends Omit<NotificationFault, "code"> {
  readonly code: NotificationFault["code"] | "TOO_MANY_SESSIONS";
  readonly agent: string;
  readonly sessionId?: string | undefined;
}

/** The state of one connection. The methods return whether anything may have changed, and never throw for a JSON value. */
export class ConnectedAgent {
  readonly #agent: string;
  readonly #limits: StoreLimits;
  readonly #sessions = new Map<string, SessionState>();
  /** Ids of sessions, the least recently updated first. */
  readonly #recent = new Set<string>();
  /** Whether the last `initialize` request asked for skills; undefined if none was seen. */
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

  /** Reads the result of `initialize`. A new result means a new connection. */
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
    // An agent that sends skill entries takes skill blocks.
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

  /** Stores a session, and drops the oldest ones if there are too many, but never this one. */
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

/** Shortens an advertisement, because agents are untrusted. */
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

/** Whether a method is the expected one. SDK 0.4.5 strips the `_` from the methods of extension notifications. */
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
