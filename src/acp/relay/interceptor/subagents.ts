import type { OnceLog } from "../../../base/log.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { type JsonRecord, isRecord } from "../../messages/raw-message.ts";
import type { KnownCalls } from "./recognise-call.ts";
import type { RelayedSession } from "./relayed-session.ts";

/** A session in which tools of acp-skills are called: one that the editor opened, or a subagent of one. */
export interface CallOrigin {
  /** The session id under which the editor sees the calls. */
  readonly id: string;
  /** The session that the editor opened. Its subagents share its skills, approvals and MCP server. */
  readonly session: RelayedSession;
  /** The calls of acp-skills' tools that the editor knows. */
  readonly calls: KnownCalls | undefined;
  /** The session id of the subagent that calls; undefined for the session itself. */
  readonly subagent: string | undefined;
}

interface Subagent extends CallOrigin {
  readonly subagent: string;
  /** The id of the session that announced the subagent: one that the editor opened, or another subagent. */
  readonly parent: string;
  /** The session id of the session that the editor opened. */
  readonly root: string;
  /** Whether the subagent does nothing now, but may be used again. */
  isIdle: boolean;
}

interface SubagentsOptions {
  /** Finds the session that the editor opened, or is loading, under this id. */
  readonly find: (id: string) => RelayedSession | undefined;
  /** Called with the id of each forgotten subagent. */
  readonly forgotten: (id: string) => void;
  readonly logOnce: OnceLog["logOnce"];
}

/** The maximum number of subagents that are remembered per connection: agents may announce any number. */
export const maxSubagents = 256;
/** The maximum length of a subagent's id, in characters. */
const maxIdLength = 1_024;

/** The states of a subagent that ended. States sent as objects are those in `idle` instead, and the subagent can be used again. */
const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled", "disconnected"]);
const idle: ReadonlySet<unknown> = new Set(["idle", "unknown"]);

/** The subagents that the agent of one connection has announced. Each has one parent, and parents never form a cycle. */
export class Subagents {
  readonly #options: SubagentsOptions;
  /** The subagents by id, the oldest first. */
  readonly #byId = new Map<string, Subagent>();
  readonly byId: ReadonlyMap<string, CallOrigin & { readonly root: string }> = this.#byId;
  /** Whether announcements are followed: an editor of ACP v1 has to declare that it understands them. */
  areShown = false;

  constructor(options: SubagentsOptions) {
    this.#options = options;
  }

  /** Handles a `subagent_update` of the agent. A fault in it is logged; the message is forwarded in any case. */
  updated(parent: string, update: JsonRecord): void {
    const fault = this.areShown ? this.#update(parent, update) : undefined;
    if (fault !== undefined)
      this.#options.logOnce("warning", `A subagent_update of the agent was forwarded, but not followed: ${fault}.`);
  }

  /** Lists the ids of a subagent and its descendants. */
  withBelow(id: string): readonly string[] {
    const found = [id];
    for (const one of found) for (const [other, { parent }] of this.#byId) if (parent === one) found.push(other);
    return found;
  }

  has(session: RelayedSession): boolean {
    return this.#of(session).next().done !== true;
  }

  /** Finds the subagent of a session that made a call which the editor knows. */
  caller(session: RelayedSession, toolCallId: unknown): CallOrigin | undefined {
    for (const subagent of this.#of(session)) if (subagent.calls?.find(toolCallId) !== undefined) return subagent;
    return undefined;
  }

  /** Called when the editor opens a session with the id of a subagent, which then is no subagent any more. */
  opened(id: string): void {
    this.#forget(id);
  }

  /** Moves the subagents of a session to the session that replaced it under the same id. */
  moved(before: RelayedSession, session: RelayedSession): void {
    for (const subagent of this.#of(before))
      this.#byId.set(subagent.id, { ...subagent, session, calls: session.calls?.ofSubagent() });
  }

  /** Forgets the subagents of a session that ended. */
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

  /** Applies an update. Returns the fault in it as a clause; undefined if it is valid. */
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

  /** At the maximum, forgets the oldest subagent without subagents, if possible an idle one. Never `parent`. False if there is none. */
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
  return quoted(id, { maxLength: 80 });
}
