import type { Log } from "../../base/log.ts";
import type { Forms, Negotiation } from "../session/negotiation.ts";
import type { Instructions } from "../prompt/prompt.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import type { Transport } from "../tools/server-entry.ts";

/**
 * The port between the relay, which carries messages and must never wait for long, and everything that reads skills or runs tools.
 * Only plain data crosses it, so that the two may live on different threads.
 */
export interface SkillService {
  /** Opens the skills and tools of one ACP connection. Never throws. */
  connect(outlet: ServiceOutlet): ServiceConnection;
  /** Releases everything. May be called more than once; never rejects. */
  close(): Promise<void>;
}

/** What the service tells one connection. Nothing here may throw. */
export interface ServiceOutlet {
  /**
   * Puts one line of ours (with its line break) on its way to the editor. `written` is called once when the line has left this process
   * or never will: the service waits for it before it sends more of the same.
   */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** One of the editor's own calls has its answer. */
  readonly answered: (id: string | number) => void;
  /** The service has ended for a fault: what was asked and is not answered never will be. */
  readonly ended: () => void;
  /** What the model is to be told at its next turn; undefined: nothing. First called once the skills were read. */
  readonly lesson: (key: SessionKey, lesson: Lesson | undefined) => void;
  readonly log: Log;
}

/** A session as the relay numbers it, from the request that opens it on. */
export type SessionKey = number;

/** What the model is to be told. */
export interface Lesson {
  readonly ticket: number;
  readonly text: string;
  /** Stands in its marks, so that it is known again in a session's history. */
  readonly label: string;
}

/** Where a session looks for skills: fields of the request that opens it. */
export interface Directories {
  readonly cwd: string | undefined;
  readonly additionalDirectories: readonly string[];
}

/** What the service needs to know to serve tools to a session's model. */
export interface EquipRequest {
  /** Undefined where the agent chooses it. */
  readonly sessionId: string | undefined;
  readonly negotiation: Negotiation;
  /** Undefined where its agent takes no servers: its model is taught without them. */
  readonly transport: Transport | undefined;
  /** The name of our server in this session. */
  readonly name: string;
}

/** A session that the agent has opened. */
export interface BeginRequest {
  readonly sessionId: string;
  readonly negotiation: Negotiation;
  readonly forms: Forms;
  /** The agent's own commands, where it listed them already. */
  readonly agentCommands: readonly unknown[];
}

/** A skill that the user called by name, read at that moment. */
export interface InvokedSkill {
  readonly slug: string;
  readonly directory: string;
  readonly file: string;
  readonly instructions: Instructions;
}

/** A skill that the user called by name, and that the agent runs itself. */
export interface NativeSkill {
  /** The command under which the agent shows it. */
  readonly command: string;
}

/** A call of a tool of ours that the agent has told its editor of. */
export interface ToldCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** Undefined where the agent has not told it. */
  readonly input: JsonRecord | undefined;
  readonly isOver: boolean;
}

/** How the agent's list of commands is to be amended. */
export interface ListAmendments {
  /** New fields of commands that the agent listed, by their place. */
  readonly annotated: readonly (readonly [place: number, fields: JsonRecord])[];
  /** JSON of the commands to append, separated by commas; empty for none. */
  readonly added: Uint8Array;
  /** How many skills the amended list tells of. */
  readonly skills: number;
}

/** A request of the editor's for one of our tools. */
export interface ToolRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

/** What one connection asks of the service. A call whose answer is a value may answer at once or later; none rejects or throws. */
export interface ServiceConnection {
  /** The agent has answered `initialize`: loads what the first session needs. */
  prepare(): void;
  /** A request to open a session is on its way to the agent. */
  open(key: SessionKey, directories: Directories): void;
  /** Opens our MCP server for the session: its entry for `mcpServers`. Undefined where it could not be opened; the log has why. */
  equip(key: SessionKey, request: EquipRequest): MaybePromise<JsonRecord | undefined>;
  /** The agent has opened the session: the editor is told of its skills from now on. */
  begin(key: SessionKey, request: BeginRequest): void;
  /** The editor sent a message about this session, so that it knows it. `isPrompt`: the first thing it may have missed is told again. */
  heard(key: SessionKey, isPrompt: boolean): void;
  /** The agent listed its own commands; undefined: nothing is to be amended. */
  agentListed(key: SessionKey, commands: readonly unknown[]): MaybePromise<ListAmendments | undefined>;
  /** The list went to the editor without our amendments: it is to be sent again with them. */
  listPassed(key: SessionKey): void;
  /** Reads a skill by what the user wrote, unless its agent is to run it. Undefined where there is none. */
  invoke(key: SessionKey, name: string, sigil: "/" | "$"): MaybePromise<InvokedSkill | NativeSkill | undefined>;
  /** The agent told its editor of a call: what that prints is told under the same id. */
  callTold(key: SessionKey, call: ToldCall): void;
  /** The model was told the lesson with this ticket. */
  taught(key: SessionKey, ticket: number): void;
  /** Runs a call of the editor's; the answer is sent. */
  ask(request: ToolRequest): void;
  /** Gives a call of the editor's up. */
  giveUp(id: string | number): void;
  /** The user ended the turn: what the model has running of our tools ends too. */
  cancelTurn(key: SessionKey): void;
  release(key: SessionKey): void;
  /** Releases every session; nothing is sent after it. May be called more than once; never rejects. */
  close(): Promise<void>;
}

type MaybePromise<Value> = Value | Promise<Value>;
