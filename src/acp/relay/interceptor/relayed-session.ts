import type { OnceLog } from "../../../base/log.ts";
import { withinTime } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/promises.ts";
import type { Settings } from "../../../runtime/options.ts";
import type { Notification } from "../../emission.ts";
import type { Amendment } from "../../messages/amend.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import { addToSystemPrompt } from "./amend-prompt.ts";
import type { Directories, ServiceConnection, SessionKey, SkillIndex } from "../../skill-service.ts";
import { KnownCalls } from "./recognise-call.ts";
import { addServer, chooseServerName, serverNames, takesServer } from "../../messages/server-entry.ts";
import { chooseTransport, type Negotiation } from "../../negotiation.ts";

/** The context that the sessions of one connection share. */
export interface RelayContext {
  readonly service: ServiceConnection;
  readonly settings: Pick<Settings, "tools" | "instructModel" | "clock">;
  /** Waits for the result of `initialize`; undefined if there will be none. */
  readonly negotiation: () => Promise<Negotiation | undefined>;
  /** Sends a notification to the editor, after the message that is being processed. */
  readonly notify: (message: Notification) => void;
  readonly logOnce: OnceLog["logOnce"];
}

/** The maximum wait for `initialize`. An editor may open a session before the response, and agents can take long to start. */
const initializeTimeoutMs = 60_000;
/** The maximum time that a request for a session waits for the MCP server of acp-skills. */
const equipTimeoutMs = 6_000;
/** The maximum time that a request for a session waits for skills to be read, so that the system prompt can name them. */
const readTimeoutMs = 500;

/** The relay's record of one session, from the request that opens the session. */
export class RelayedSession {
  readonly kind = "open";
  readonly key: SessionKey;
  /** The session id that the editor requested; undefined if the agent chooses it. */
  readonly requestedId: string | undefined;
  /** The calls of acp-skills' tools that the editor knows; undefined until the agent gets the MCP server of acp-skills. */
  calls: KnownCalls | undefined;
  /** Whether the session's prompts get the index of skills. */
  getsIndex = false;
  /** Whether the session was opened, refused or released: its request can no longer be amended. */
  isOver = false;
  /** The agent's latest list of its own commands. */
  agentCommands: readonly unknown[] = [];
  /** Whether the editor has sent a message about the session. */
  isKnown = false;
  /** Whether the editor has sent a prompt. */
  isPrompted = false;
  /** Whether a prompt has waited until the skills were read. */
  hasWaited = false;
  /** Whether the skills were read, and the first index, if any, is known. */
  isRead = false;
  readonly #context: RelayContext;
  readonly #read = createDeferred();
  /** The index of skills for the next prompt; undefined if the model has the current one. */
  nextIndex: SkillIndex | undefined;
  #labelInHistory: string | undefined;

  constructor(key: SessionKey, requestedId: string | undefined, params: JsonRecord, context: RelayContext) {
    this.key = key;
    this.requestedId = requestedId;
    this.#context = context;
    this.service.open(key, directoriesOf(params));
  }

  get service(): ServiceConnection {
    return this.#context.service;
  }

  /** Amends the request so that the session gets the tools, within a time limit. Without tools the session continues. */
  async equip(params: JsonRecord): Promise<readonly Amendment[]> {
    const { settings, logOnce } = this.#context;
    const { clock, instructModel } = settings;
    const negotiation = await withinTime(this.#context.negotiation(), clock, initializeTimeoutMs);
    if (this.#hasEnded()) return [];
    if (negotiation === undefined) {
      logOnce("info", "No MCP server was added to the session: the agent has not answered initialize.");
      return [];
    }
    const transport = chooseTransport(negotiation, settings.tools);
    if (transport === undefined) {
      logOnce("info", "No MCP server was added to the session: the agent does not support any.");
      // The agent's model can read the files of skills.
      this.getsIndex = true;
    } else if (!takesServer(params)) return [];
    const name = chooseServerName(params["mcpServers"]);
    const request = { sessionId: this.requestedId, negotiation, transport, name };
    const entry = await withinTime(Promise.resolve(this.service.equip(this.key, request)), clock, equipTimeoutMs);
    if (entry === undefined || this.#hasEnded()) return [];
    this.calls = new KnownCalls({ name, others: serverNames(params["mcpServers"]) }, negotiation.facts);
    this.getsIndex = true;
    const server = addServer(params, entry);
    if (!instructModel || !negotiation.systemPrompt) return [server];
    await this.untilRead(readTimeoutMs);
    const prompt = this.nextIndex && addToSystemPrompt(params, this.nextIndex.text);
    if (prompt === undefined) return [server];
    this.indexSent();
    return [server, prompt];
  }

  /** Resolves when the skills have been read, or after `ms` milliseconds. */
  async untilRead(ms: number): Promise<void> {
    await withinTime(this.#read.promise, this.#context.settings.clock, ms);
  }

  /** Sets the index for the next prompt. */
  setIndex(index: SkillIndex | undefined): void {
    this.nextIndex = index;
    this.#skipKnownIndex();
    this.isRead = true;
    this.#read.resolve();
  }

  /** Called when the next index was added to a message. */
  indexSent(): void {
    this.#labelInHistory = undefined;
    this.#takeIndex();
  }

  /** Called when the session's history contains the index with this label, so that it is not sent again. */
  indexInHistory(label: string): void {
    this.#labelInHistory = label;
    this.#skipKnownIndex();
  }

  /** Releases the session, which ended or was not opened. */
  release(): void {
    this.isOver = true;
    this.service.release(this.key);
  }

  #skipKnownIndex(): void {
    if (this.nextIndex?.label === this.#labelInHistory) this.#takeIndex();
  }

  #takeIndex(): void {
    const index = this.nextIndex;
    this.nextIndex = undefined;
    if (index !== undefined) this.service.indexSent(this.key, index.ticket);
  }

  /** Whether the session has ended. A function, because the value can change during an `await`. */
  #hasEnded(): boolean {
    return this.isOver;
  }
}

function directoriesOf({ cwd, additionalDirectories }: JsonRecord): Directories {
  const more: unknown[] = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  return {
    cwd: typeof cwd === "string" ? cwd : undefined,
    additionalDirectories: more.filter((directory) => typeof directory === "string"),
  };
}
