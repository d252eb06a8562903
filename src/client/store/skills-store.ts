import { sessionClose, sessionDelete, sessionUpdate, type MessageStream } from "../../wire/methods.ts";
import { isForUsOnly, tapStream } from "../observe-skills.ts";
import { isOptIn } from "../initialize.ts";
import { fieldsOf, isSame, reuseEqualList } from "../json.ts";
import {
  type AgentCapabilities,
  ConnectedAgent,
  type InvocationBlock,
  type StoreProblem,
  defaultStoreLimits,
} from "./connected-agent.ts";
import type { StoreLimits } from "../forms/entries.ts";
import type { StoredSkill } from "../forms/notification.ts";
import type { SkillSession } from "./session.ts";

/** Functions that an SDK's client calls; for `ClientSideConnection` of 0.4.5, or to be called by handlers of a 2.x app. */
export interface SkillsHandlers {
  /** Called with the params of `session/update`. */
  readonly sessionUpdate: (params: object) => Promise<void>;
  /** Called with any extension notification. */
  readonly extNotification: (method: string, params: object) => Promise<void>;
}

/** The skills that agents announced, and functions to feed the store. `agent` is a key of the editor's choice for each connection. */
export interface SkillsStore {
  /** Sessions by connection, then in the order in which they were first announced. */
  readonly sessions: readonly SkillSession[];
  /** The skills of all sessions. A skill in several sessions of an agent occurs once, as in the last of them. */
  readonly skills: readonly StoredSkill[];
  /** The faults in messages of agents. */
  readonly problems: readonly StoreProblem[];
  /** The capabilities that the agents announced, by connection. */
  readonly capabilities: readonly AgentCapabilities[];
  /** Calls the listener after each change; returns a function that stops this. */
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Listens to the stream of a connection, of any SDK generation. Give the returned stream to the SDK. Messages that only this store
   * understands are removed from it. A second stream with the same key replaces the first.
   */
  readonly connect: <Message>(stream: MessageStream<Message>, agent?: string) => MessageStream<Message>;
  /** Takes a raw JSON-RPC message of the agent. */
  readonly receive: (message: unknown, agent?: string) => void;
  /** Takes a raw JSON-RPC message that the editor sent; `session/close` and `session/delete` release the session. */
  readonly sent: (message: unknown, agent?: string) => void;
  /** Takes the response of `initialize`, if the SDK does not show messages. */
  readonly initialized: (response: unknown, agent?: string) => void;
  /** Returns handlers for SDKs that pass parsed messages to functions. */
  readonly handlers: (agent?: string) => SkillsHandlers;
  /** The beginning of a prompt that invokes a skill: a `skill` block if its agent takes them, else `/name`; then the words. */
  readonly invoke: (skill: StoredSkill, words?: string) => readonly InvocationBlock[];
  /** Forgets a session. */
  readonly release: (sessionId: string, agent?: string) => void;
  /** Forgets a connection. */
  readonly disconnect: (agent?: string) => void;
}

/** Options of the store. */
export interface SkillsStoreOptions {
  /** The limits of the store; omitted ones have their defaults. */
  readonly limits?: Partial<StoreLimits>;
}

const defaultAgent = "agent";
/** The maximum number of open requests to close a session; further ones are not followed. */
const maxClosing = 100;

interface Connection {
  readonly state: ConnectedAgent;
  /** Sessions by the id of the request that closes them. */
  readonly closing: Map<unknown, unknown>;
}

type Snapshot = Pick<SkillsStore, "sessions" | "skills" | "problems" | "capabilities">;

/** A store of the skills that agents announced. Each property is the same object until what it contains changes. */
export function createSkillsStore(options: SkillsStoreOptions = {}): SkillsStore {
  const limits: StoreLimits = { ...defaultStoreLimits, ...options.limits };
  const connections = new Map<string, Connection>();
  const listeners = new Set<() => void>();
  let snapshot: Snapshot = { sessions: [], skills: [], problems: [], capabilities: [] };

  function open(agent: string): Connection {
    const connection = { state: new ConnectedAgent(agent, limits), closing: new Map<unknown, unknown>() };
    connections.set(agent, connection);
    return connection;
  }
  function of(agent = defaultAgent): Connection {
    return connections.get(agent) ?? open(agent);
  }
  function changed(isChanged = true): void {
    if (!isChanged) return;
    const agents = Array.from(connections.values(), ({ state }) => state);
    const before = snapshot;
    snapshot = nextSnapshot(before, agents);
    if (snapshot === before) return;
    for (const listener of [...listeners]) call(listener);
  }
  function close(agent: string, connection?: Connection): void {
    if (connection !== undefined && connections.get(agent) !== connection) return;
    changed(connections.delete(agent));
  }

  function notified(method: string, params: object, agent: string | undefined): Promise<void> {
    changed(of(agent).state.notified(method, params));
    return Promise.resolve();
  }

  return {
    get sessions() {
      return snapshot.sessions;
    },
    get skills() {
      return snapshot.skills;
    },
    get problems() {
      return snapshot.problems;
    },
    get capabilities() {
      return snapshot.capabilities;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    connect(stream, agent = defaultAgent) {
      close(agent);
      const connection = open(agent);
      const isCurrent = (): boolean => connections.get(agent) === connection;
      return tapStream(stream, {
        received(message) {
          if (isCurrent()) changed(receive(connection, message));
          return isForUsOnly(message);
        },
        sent(message) {
          if (isCurrent()) send(connection, message);
        },
        ended() {
          close(agent, connection);
        },
      });
    },
    receive: (message, agent) => changed(receive(of(agent), message)),
    sent: (message, agent) => send(of(agent), message),
    initialized: (response, agent) => changed(of(agent).state.initialized(fieldsOf(response) ?? {})),
    handlers: (agent) => ({
      sessionUpdate: (params) => notified(sessionUpdate, params, agent),
      extNotification: (method, params) => notified(method, params, agent),
    }),
    invoke: (skill, words = "") => of(skill.agent).state.invoke(skill, words),
    release: (sessionId, agent) => changed(of(agent).state.release(sessionId)),
    disconnect: (agent = defaultAgent) => close(agent),
  };
}

/** A listener that throws must not end the connection. */
function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function receive({ state, closing }: Connection, message: unknown): boolean {
  const { method, params, id, result } = fieldsOf(message) ?? {};
  if (method !== undefined) return state.notified(method, params);
  const response = fieldsOf(result);
  const sessionId = closing.get(id);
  closing.delete(id);
  if (response === undefined) return false;
  return sessionId === undefined ? state.initialized(response) : state.release(sessionId);
}

function send({ state, closing }: Connection, message: unknown): void {
  const { method, params, id } = fieldsOf(message) ?? {};
  if (method === "initialize") state.optedIn = isOptIn(params);
  if ((method !== sessionClose && method !== sessionDelete) || closing.size >= maxClosing) return;
  closing.set(id, fieldsOf(params)?.["sessionId"]);
}

/** The snapshot after a change. Fields that did not change stay the same objects, and so does the whole. */
function nextSnapshot(before: Snapshot, agents: readonly ConnectedAgent[]): Snapshot {
  const sessions = reuseEqualList(
    before.sessions,
    agents.flatMap((agent) => agent.sessions),
  );
  const skills = sessions === before.sessions ? before.skills : reuseEqualList(before.skills, uniqueSkills(sessions));
  const found = agents.flatMap((agent) => agent.problems);
  const problems = isSame(before.problems, found) ? before.problems : found;
  const capabilities = reuseEqualList(
    before.capabilities,
    agents.flatMap((agent) => agent.capabilities ?? []),
  );
  const isUnchanged =
    sessions === before.sessions && problems === before.problems && capabilities === before.capabilities;
  return isUnchanged ? before : { sessions, skills, problems, capabilities };
}

function uniqueSkills(sessions: readonly SkillSession[]): readonly StoredSkill[] {
  const [first, second] = sessions;
  if (first !== undefined && second === undefined) return first.skills;
  const all = sessions.flatMap(({ skills }) => skills);
  return [...new Map(all.map((skill) => [`${skill.agent}\n${skill.name}`, skill])).values()];
}
