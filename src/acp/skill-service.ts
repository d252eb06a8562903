import type { MessagePort } from "node:worker_threads";
import type { PlainError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Question, Reply } from "../runtime/question.ts";
import type { Problem } from "../skills/rules.ts";
import type { Skill } from "../skills/skill.ts";
import type { BlobFacts } from "./messages/describe-call.ts";
import type { EditorReply } from "./messages/editor-reply.ts";
import type { JsonRecord } from "./messages/raw-message.ts";
import type { Forms, Negotiation } from "./negotiation.ts";
import type { Transport } from "./messages/server-entry.ts";
import type { McpCaller } from "../mcp/mcp-caller.ts";
import type { McpAddress } from "../mcp/session-servers.ts";

/**
 * The port between the relay, which carries messages and must never wait for long, and everything that reads skills or runs tools.
 * Only plain data crosses it, so that the two may live on different threads.
 */
export interface SkillService {
  /** Opens the skills and tools of one ACP connection. Never throws. */
  connect(outlet: ServiceOutlet): ServiceConnection;
  /** Serves the skills and tools of these directories to the other end of a port, until that end or the service closes. */
  serveSkills(port: MessagePort, opening: Opening): void;
  /** Releases everything. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** What the service reports to one connection. Must not throw. */
export interface ServiceOutlet {
  /**
   * Sends one line, with its line break, to the editor. `written` is called once, when the line was written or never will be: the
   * service waits for it before it sends the next such line.
   */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** Sends a request of ours to the editor; its response arrives at `editorReplied`. */
  readonly request: (id: string, line: Uint8Array) => void;
  /** Cancels such a request, unless the editor has responded. */
  readonly withdraw: (id: string) => void;
  /** One of the editor's own requests was answered. */
  readonly answered: (id: string | number) => void;
  /** The service has stopped because of an internal error: open requests will not be answered. */
  readonly ended: () => void;
  /** The index of skills for the next prompt, undefined for none. First called when the skills were read. */
  readonly index: (key: SessionKey, index: SkillIndex | undefined) => void;
  /** A run of the session has stored a blob. */
  readonly blob: (key: SessionKey, id: string, facts: BlobFacts) => void;
  readonly log: Log;
}

/** The relay's number of a session, from the request that opens it. */
export type SessionKey = number;

/** A text that lists the available skills for the model. */
export interface SkillIndex {
  readonly ticket: number;
  readonly text: string;
  /** Part of its marks, by which it is recognised in a session's history. */
  readonly label: string;
}

/** Where a session has skills: fields of the request that opens it. */
export interface Directories {
  readonly cwd: string | undefined;
  readonly additionalDirectories: readonly string[];
}

/** What the service needs to know to serve tools to a session's model. */
export interface EquipRequest {
  /** Undefined if the agent chooses it. */
  readonly sessionId: string | undefined;
  readonly negotiation: Negotiation;
  /** Undefined if its agent supports no MCP servers: its model reads the files of skills. */
  readonly transport: Transport | undefined;
  /** The name of our server in this session. */
  readonly name: string;
  /** Its server, if the agent has the address already; never from the relay. */
  readonly reserve?: Reserve | undefined;
}

/** A session that the agent has opened. */
export interface BeginRequest {
  readonly sessionId: string;
  readonly negotiation: Negotiation;
  readonly forms: Forms;
  /** The agent's own commands, if it has listed them. */
  readonly agentCommands: readonly unknown[];
}

/** A skill that the user invoked by name, just read. */
export interface InvokedSkill {
  readonly slug: string;
  readonly directory: string;
  readonly file: string;
  readonly instructions: Instructions;
}

/** A skill that the user invoked by name and the agent runs itself. */
interface NativeSkill {
  /** The command under which the agent shows it. */
  readonly command: string;
}

/** A skill that the user invoked by name, which is deleted although the agent still shows it. */
interface GoneSkill {
  readonly gone: string;
}

/** What became of an invocation; `refused`: why that of a block is not possible. */
export type Invoked = InvokedSkill | NativeSkill | GoneSkill | { readonly refused: string };

/** `/name` or `$name` in a text, or a `skill` block; `text`: the block of a prompt that needs the skill's text, whoever runs the skill. */
export type InvocationForm = "/" | "$" | "block" | "text";

/** `decided`: trust decides, and asks the person where nobody has; `sandboxed`: it needs nothing beyond its sandbox, which works. */
export type RunAnswer = "decided" | "sandboxed";

/** A call of one of our tools that the agent has reported to its editor. */
export interface ReportedCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** Undefined if unknown. */
  readonly input: JsonRecord | undefined;
  readonly isOver: boolean;
  /** The session id of the subagent that makes it; undefined if the session itself does, as far as is known. */
  readonly subagent?: string | undefined;
}

/** How the agent's list of commands is to be amended. */
export interface ListAmendments {
  /** New fields of commands that the agent listed, by their place. */
  readonly annotated: readonly (readonly [place: number, fields: JsonRecord])[];
  /** JSON of the commands to append, separated by commas; empty for none. */
  readonly added: Uint8Array;
  /** Instead of these changes, the list: some of the agent's commands are left out. */
  readonly whole?: readonly unknown[];
  /** The number of skills in the amended list; undefined if it is not sent to the editor. */
  readonly skills: number | undefined;
}

/** A request of the editor for one of our tools. */
export interface ToolRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

/** What one connection asks of the service. Nothing rejects or throws. */
export interface ServiceConnection {
  /** The agent has answered `initialize`: what the first session needs is loaded soon, unless that session begins before. */
  prepare(): void;
  /** A request to open a session is on its way to the agent. */
  open(key: SessionKey, directories: Directories): void;
  /** Opens our MCP server for the session: its entry for `mcpServers`. Undefined if it could not be opened; the reason is logged. */
  equip(key: SessionKey, request: EquipRequest): MaybePromise<JsonRecord | undefined>;
  /** The agent has opened the session: from now on the editor gets its skills. */
  begin(key: SessionKey, request: BeginRequest): void;
  /** The editor sent a message about this session. With the first prompt, updates that it may have dropped are repeated. */
  named(key: SessionKey, isPrompt: boolean): void;
  /** The agent listed its commands; undefined: the list stays as it is. */
  agentListed(key: SessionKey, commands: readonly unknown[]): MaybePromise<ListAmendments | undefined>;
  /** The list was forwarded without our amendments and must be sent again with them. */
  listPassed(key: SessionKey): void;
  /** Reads the skill that the user invoked, unless the agent runs it itself. Undefined if there is none. */
  invoke(key: SessionKey, name: string, form: InvocationForm): MaybePromise<Invoked | undefined>;
  /** A person sent a prompt: what they did not answer may be asked again. Comes before `invoke`. */
  turnBegan(key: SessionKey): void;
  /** Why the agent need not ask about a call of a tool that runs code; undefined if it should. */
  answersRun(key: SessionKey, tool: string, input: JsonRecord): MaybePromise<RunAnswer | undefined>;
  /** The agent reported a call to its editor: its output is reported with the same id. */
  callReported(key: SessionKey, call: ReportedCall): void;
  /** The index with this ticket was sent to the model. */
  indexSent(key: SessionKey, ticket: number): void;
  /** Runs a call of the editor and sends the response. */
  callTool(request: ToolRequest): void;
  /** The editor was sent a request of ours. */
  questionShown(id: string): void;
  /** The editor responded to a request of ours, so long after it was sent. */
  editorReplied(id: string, reply: EditorReply, elapsedMs: number): void;
  /** Cancels a call of the editor. */
  cancelCall(id: string | number): void;
  /** The user cancelled the turn: running calls of our tools end. Or the work of these subagents: those that they began end. */
  cancelTurn(key: SessionKey, subagents?: readonly string[]): void;
  /** The user cancelled one call of our tools, which the agent reported with this id. */
  cancelToolCall(key: SessionKey, toolCallId: string): void;
  release(key: SessionKey): void;
  /** Releases every session; nothing is sent afterwards. Idempotent; never rejects. */
  close(): Promise<void>;
}

type MaybePromise<Value> = Value | Promise<Value>;

/** To the service's thread. `connection` numbers ACP connections; `call` numbers calls whose result is awaited. */
export type ToService =
  | { readonly kind: "connect"; readonly connection: number }
  | {
      readonly kind: "ask";
      readonly connection: number;
      readonly method: keyof ServiceConnection;
      readonly args: readonly unknown[];
      readonly call?: number;
    }
  /** A line was written. */
  | { readonly kind: "written"; readonly line: number; readonly spent?: Uint8Array }
  | { readonly kind: "skills"; readonly port: MessagePort; readonly opening: Opening }
  | { readonly kind: "close" };

/** From the service's thread, besides answers. */
export type FromService =
  | { readonly kind: "line"; readonly connection: number; readonly line: number; readonly bytes: Uint8Array }
  | OutletCalls["request" | "withdraw" | "answered" | "index" | "blob"];

/** Calls of an outlet's methods. */
type OutletCalls = {
  readonly [Method in keyof ServiceOutlet]: {
    readonly kind: "outlet";
    readonly connection: number;
    readonly method: Method;
    readonly args: Parameters<ServiceOutlet[Method]>;
  };
};

/** A skill's text, read when it is used. */
export interface Instructions {
  /** SKILL.md without its frontmatter. */
  readonly body: string;
  /** True when `body` is only the beginning. */
  readonly truncated: boolean;
  /** Files beside SKILL.md, relative to the skill's directory, with `/`. */
  readonly files: readonly string[];
  /** True when `files` is only the beginning. */
  readonly moreFiles: boolean;
  /** When SKILL.md was last changed: milliseconds since 1970. */
  readonly changedAt: number;
}

/** Serves this caller at the address that the agent has. */
export type Reserve = (caller: McpCaller) => McpAddress;

/** Whose skills are served, to whom. */
export interface Opening {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Whether the other end decides which skills are visible; it says so with each call. */
  readonly asksVisible: boolean;
  /** There is a person who can be asked. */
  readonly hasPerson: boolean;
}

/** The caller of a tool. */
export interface CallFacts {
  readonly sessionId: string | undefined;
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

export type ToSkills =
  /** Answered when the skills have been read. */
  | { readonly kind: "open"; readonly call: number }
  | ({
      readonly kind: "call";
      readonly call: number;
      readonly name: string;
      readonly args: unknown;
      /** The numbers of the skills that are visible; undefined for all. Skills that were not sent before are not. */
      readonly visible: readonly number[] | undefined;
    } & CallFacts)
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "close" }
  | { readonly kind: "answered"; readonly question: number; readonly reply: Reply }
  | { readonly kind: "list"; readonly call: number; readonly visible: readonly number[] | undefined };

/** Which skills changed, by canonical name. */
export interface SkillsChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What the thread sends besides answers. */
export type FromSkills =
  /** When the skills have been read, and after every change. `numbered`: every version, if the other end decides which are visible. */
  | {
      readonly kind: "skills";
      readonly problems: readonly Problem[];
      readonly numbered: readonly (readonly [number, Skill])[];
      readonly change?: SkillsChange;
    }
  | { readonly kind: "print"; readonly call: number; readonly text: string }
  | { readonly kind: "ask"; readonly question: number; readonly asked: Question }
  | { readonly kind: "withdrawn"; readonly question: number }
  /** There will be no skills. */
  | { readonly kind: "failed"; readonly error: PlainError };

/** The answer to a call. */
export type CallResult = { readonly value: unknown } | { readonly error: PlainError };
