import type { OnceLog } from "../../../base/log.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { type JsonRecord, isRecord } from "../../messages/raw-message.ts";
import type { KnownCalls } from "./recognise-call.ts";
import type { RelayedSession } from "./relayed-session.ts";

/** Where our tools are called: a session that the editor opened, or a subagent of one. */
export interface CallingSession {
  /** The session id under which the editor sees the calls. */
  readonly id: string;
  /** The session that the editor opened. A subagent has its skills, approvals and MCP server. */
  readonly session: RelayedSession;
  /** The calls of our tools that the editor knows. */
  readonly calls: KnownCalls | undefined;
  /** The session id of the subagent that calls. */
  readonly subagent: string | undefined;
}

interface Subagent extends CallingSession {
  readonly subagent: string;
  /** The session that announced it: one that the editor opened, or another subagent. */
  readonly parent: string;
  /** The session id of the session that the editor opened. */
  readonly root: string;
  /** It does nothing now, but may be used again. */
  isIdle: boolean;
}

interface SubagentsOptions {
  /** The session that the editor opened, or is loading, under this id. */
  readonly find: (id: string) => RelayedSession | undefined;
  /** Called with the id of each that is forgotten. */
  readonly forgotten: (id: string) => void;
  readonly logOnce: OnceLog["logOnce"];
}

/** How many subagents of one connection are remembered: agents announce as many as they like. */
export const maxSubagents = 256;
/** In characters. */
const maxIdLength = 1_024;

/** The states of a subagent that ended. Where the state is an object, subagents are idle instead, and can be used again. */
const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled", "disconnected"]);
const idle: ReadonlySet<unknown> = new Set(["idle", "unknown"]);

/** The subagents that the agent of one connection has announced. Each has one parent, and no circle can arise. */
export class Subagents {
  readonly #options: SubagentsOptions;
  /** The oldest first. */
  readonly #byId = new Map<string, Subagent>();
  readonly byId: ReadonlyMap<string, CallingSession & { readonly root: string }> = this.#byId;
  /** Announcements count: an editor of ACP v1 has to declare that it understands them. */
  areShown = false;

  constructor(options: SubagentsOptions) {
    this.#options = options;
  }

  /** The agent sent `subagent_update` in a session. What is wrong with it is logged; the message is forwarded in any case. */
  updated(parent: string, update: JsonRecord): void {
    const fault = this.areShown ? this.#update(parent, update) : undefined;
    if (fault !== undefined)
      this.#options.logOnce("warning", `A subagent_update of the agent was forwarded, but not followed: ${fault}.`);
  }

  /** The subagent and those below it. */
  withBelow(id: string): readonly string[] {
    const found = [id];
    for (const one of found) for (const [other, { parent }] of this.#byId) if (parent === one) found.push(other);
    return found;
  }

  has(session: RelayedSession): boolean {
    return this.#of(session).next().done !== true;
  }

  /** The subagent of a session that the editor knows to have made a call. */
  caller(session: RelayedSession, toolCallId: unknown): CallingSession | undefined {
    for (const subagent of this.#of(session)) if (subagent.calls?.find(toolCallId) !== undefined) return subagent;
    return undefined;
  }

  /** The editor opened a session with the id of a subagent, which is none then. */
  opened(id: string): void {
    this.#forget(id);
  }

  /** A session was opened in place of another one with its id. */
  moved(before: RelayedSession, session: RelayedSession): void {
    for (const subagent of this.#of(before))
      this.#byId.set(subagent.id, { ...subagent, session, calls: session.calls?.ofSubagent() });
  }

  /** The session ended. */
  released(session: RelayedSession): void {
    for (const { id } of this.#of(session)) this.#forget(id);
  }

  clear(): void {
    this.#byId.clear();
  }

  *#of(session: RelayedSession): Generator<Subagent, undefined> {
    for (const subagent of this.#byId.values()) if (subagent.session === session) yield subagent;
    return undefined;
  }

  /** What is wrong with it, if anything. */
  #update(parent: string, { subagentSessionId, sessionId, state: given }: JsonRecord): string | undefined {
    const id = subagentSessionId ?? sessionId;
    if (typeof id !== "string" || id === "") return "it has no id of a session";
    const [name, parentName] = [shown(id), shown(parent)];
    if (id.length > maxIdLength) return `the id ${name} has more than ${maxIdLength} characters`;
    if (id === parent) return `the session ${name} is its own parent`;
    const { find } = this.#options;
    if (find(id) !== undefined) return `the session ${name} was opened by the editor`;
    const above = this.#byId.get(parent);
    const session = above?.session ?? find(parent);
    if (session === undefined) return `its parent, the session ${parentName}, is unknown`;
    const state = isRecord(given) ? given["state"] : given;
    const known = this.#byId.get(id);
    if (known !== undefined && known.parent !== parent)
      return this.withBelow(id).includes(parent)
        ? `the session ${parentName} is itself below the subagent ${name}`
        : `the subagent ${name} has another parent than the session ${parentName}`;
    if (ended.has(state)) {
      if (known !== undefined) this.#forget(id);
      return undefined;
    }
    if (known !== undefined) {
      if (typeof state === "string") known.isIdle = idle.has(state);
      return undefined;
    }
    if (!this.#makeRoom(parent)) return `${maxSubagents} others are running`;
    const calls = session.calls?.ofSubagent();
    const root = above?.root ?? parent;
    this.#byId.set(id, { id, session, calls, subagent: id, parent, root, isIdle: idle.has(state) });
    return undefined;
  }

  /** Forgets one if there are many: of those without subagents the oldest that is idle, or else the oldest. Never the parent of the next. */
  #makeRoom(parent: string): boolean {
    if (this.#byId.size < maxSubagents) return true;
    const parents = new Set([parent, ...[...this.#byId.values()].map((subagent) => subagent.parent)]);
    const leaves = [...this.#byId.values()].filter(({ id }) => !parents.has(id));
    const dropped = leaves.find(({ isIdle }) => isIdle) ?? leaves[0];
    if (dropped === undefined) return false;
    this.#options.logOnce("warning", `There are more than ${maxSubagents} subagents: the oldest are not followed.`);
    this.#forget(dropped.id);
    return true;
  }

  #forget(id: string): void {
    for (const one of this.withBelow(id)) {
      this.#byId.delete(one);
      this.#options.forgotten(one);
    }
  }
}

function shown(id: string): string {
  return quoted(id, { longest: 80 });
}
