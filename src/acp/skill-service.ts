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
import type { McpTransport } from "./messages/server-entry.ts";
import type { McpCaller } from "../mcp/mcp-caller.ts";
import type { McpAddress } from "../mcp/session-servers.ts";

/**
 * The port between the relay and the service. The relay carries messages and must never wait for long; the service reads skills and runs
 * tools. Only plain data crosses the port, so that the two may run on different threads.
 */
export interface SkillService {
  /** Opens the skills and tools of one ACP connection. Never throws. */
  connect(outlet: ServiceOutlet): ServiceConnection;
  /** Serves the skills and tools of the opening's directories to the other end of a port, until that end or the service closes. */
  serveSkills(port: MessagePort, opening: Opening): void;
  /** Releases everything. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** The callbacks with which the service reports to one connection. They must not throw. */
export interface ServiceOutlet {
  /**
   * Sends one line, with its line break, to the editor. `written` is called once, when the line was written or never will be. Until then,
   * the service sends no other line of the same kind.
   */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** Sends a request of acp-skills to the editor. The response arrives at `editorReplied`. */
  readonly request: (id: string, line: Uint8Array) => void;
  /** Cancels a request of acp-skills, unless the editor has responded. */
  readonly withdraw: (id: string) => void;
  /** Called just before one of the editor's own requests is answered. */
  readonly answered: (id: string | number) => void;
  /** Called when the service has stopped because of an internal error: open requests will not be answered. */
  readonly ended: () => void;
  /** Called with the index of skills for the next prompt, undefined for none. First called when the skills have been read. */
  readonly index: (key: SessionKey, index: SkillIndex | undefined) => void;
  /** Called when a run of the session has stored a blob. */
  readonly blob: (key: SessionKey, id: string, facts: BlobFacts) => void;
  readonly log: Log;
}

/** The relay's number of a session, assigned with the request that opens the session. */
export type SessionKey = number;

/** A text that lists the available skills for the model. */
export interface SkillIndex {
  readonly ticket: number;
  readonly text: string;
  /** The label in the marks of the index, by which it is recognised in a session's history. */
  readonly label: string;
}

/** The directories in which a session has skills, from the request that opens the session. */
export interface Directories {
  readonly cwd: string | undefined;
  readonly additionalDirectories: readonly string[];
}

/** The facts that the service needs to serve tools to a session's model. */
export interface EquipRequest {
  /** The session's id; undefined if the agent chooses it. */
  readonly sessionId: string | undefined;
  readonly negotiation: Negotiation;
  /** The transport to the MCP server; undefined if the agent supports none. The model then reads the files of skills. */
  readonly transport: McpTransport | undefined;
  /** The name of the MCP server in this session. */
  readonly name: string;
  /** The function that serves the session at the address that the agent already has, if any. Never set by the relay. */
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
  /** The command under which the agent shows the skill. */
  readonly command: string;
}

/** A skill that the user invoked by name, which is deleted although the agent still shows it. */
interface GoneSkill {
  readonly gone: string;
}

/** The result of an invocation. `refused` is the reason why the skill of a block cannot be invoked. */
export type Invoked = InvokedSkill | NativeSkill | GoneSkill | { readonly refused: string };

/** The form of an invocation: `/name` or `$name` in a text, or a `skill` block. `text` is a block that always needs the skill's text. */
export type InvocationForm = "/" | "$" | "block" | "text";

/** Why the agent need not ask. `decided`: trust decides, or asks the user. `sandboxed`: the run stays in its sandbox, which works. */
export type RunAnswer = "decided" | "sandboxed";

/** A call of a tool of acp-skills that the agent has reported to its editor. */
export interface ReportedCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** The input of the call; undefined if unknown. */
  readonly input: JsonRecord | undefined;
  readonly isOver: boolean;
  /** The session id of the subagent that makes the call; undefined if the session itself makes it, as far as is known. */
  readonly subagent?: string | undefined;
}

/** The amendments of the agent's list of commands. */
export interface ListAmendments {
  /** The new fields of commands that the agent listed, by index. */
  readonly annotated: readonly (readonly [index: number, fields: JsonRecord])[];
  /** The JSON of the commands to append, separated by commas; empty for none. */
  readonly added: Uint8Array;
  /** The whole list, sent instead of `annotated` and `added` if some of the agent's commands are omitted. */
  readonly whole?: readonly unknown[];
  /** The number of skills in the amended list; undefined if the number is not sent to the editor. */
  readonly skills: number | undefined;
}

/** A request of the editor for a tool of acp-skills. */
export interface ToolRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

/** The requests of one connection to the service. No method rejects or throws. */
export interface ServiceConnection {
  /** Called when the agent has answered `initialize`. The code for the first session is loaded soon, unless that session begins before. */
  prepare(): void;
  /** Called when a request to open a session is on its way to the agent. */
  open(key: SessionKey, directories: Directories): void;
  /** Opens the session's MCP server. Returns its entry for `mcpServers`, or undefined if it could not be opened; the reason is logged. */
  equip(key: SessionKey, request: EquipRequest): MaybePromise<JsonRecord | undefined>;
  /** Called when the agent has opened the session. From then on, the editor gets the skills. */
  begin(key: SessionKey, request: BeginRequest): void;
  /** Called when the editor sends a message about the session. The first prompt repeats updates that the editor may have dropped. */
  named(key: SessionKey, isPrompt: boolean): void;
  /** Called when the agent lists its commands. Returns the amendments; undefined if the list stays as it is. */
  agentListed(key: SessionKey, commands: readonly unknown[]): MaybePromise<ListAmendments | undefined>;
  /** Called when the list was forwarded without the amendments. It is then sent again with them. */
  listPassed(key: SessionKey): void;
  /** Reads the skill that the user invoked, unless the agent runs the skill itself. Undefined if there is no such skill. */
  invoke(key: SessionKey, name: string, form: InvocationForm): MaybePromise<Invoked | undefined>;
  /** Called when the user sends a prompt, before `invoke`. Questions that the user did not answer may then be asked again. */
  turnBegan(key: SessionKey): void;
  /** Why the agent need not ask about a call of a tool that runs code; undefined if the agent should ask. */
  answersRun(key: SessionKey, tool: string, input: JsonRecord): MaybePromise<RunAnswer | undefined>;
  /** Called when the agent reports a call to its editor. The output of the call is reported with the same id. */
  callReported(key: SessionKey, call: ReportedCall): void;
  /** Called when the index with this ticket was sent to the model. */
  indexSent(key: SessionKey, ticket: number): void;
  /** Runs a call of the editor and sends the response. */
  callTool(request: ToolRequest): void;
  /** Called when a request of acp-skills was sent to the editor. */
  questionShown(id: string): void;
  /** Called when the editor responds to a request of acp-skills, with the editor's time in milliseconds. */
  editorReplied(id: string, reply: EditorReply, elapsedMs: number): void;
  /** Cancels a call of the editor. */
  cancelCall(id: string | number): void;
  /** Called when the user cancels the turn, or only the work of some subagents. Ends their running calls of tools. */
  cancelTurn(key: SessionKey, subagents?: readonly string[]): void;
  /** Called when the user cancels one call of a tool, which the agent reported with this id. */
  cancelToolCall(key: SessionKey, toolCallId: string): void;
  release(key: SessionKey): void;
  /** Releases every session. Nothing is sent afterwards. Idempotent; never rejects. */
  close(): Promise<void>;
}

type MaybePromise<Value> = Value | Promise<Value>;

/** A message to the service's thread. `connection` numbers ACP connections; `call` numbers calls whose result is awaited. */
export type ToService =
  | { readonly kind: "connect"; readonly connection: number }
  | {
      readonly kind: "ask";
      readonly connection: number;
      readonly method: keyof ServiceConnection;
      readonly args: readonly unknown[];
      readonly call?: number;
    }
  /** Reports that a line was written. `spent` returns the memory of the line. */
  | { readonly kind: "written"; readonly line: number; readonly spent?: Uint8Array }
  | { readonly kind: "skills"; readonly port: MessagePort; readonly opening: Opening }
  | { readonly kind: "close" };

/** A message from the service's thread, other than an answer. */
export type FromService =
  | { readonly kind: "line"; readonly connection: number; readonly line: number; readonly bytes: Uint8Array }
  | OutletCalls["request" | "withdraw" | "answered" | "index" | "blob"];

/** The messages that call an outlet's methods, by method. */
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
  /** Whether `body` is only the beginning. */
  readonly truncated: boolean;
  /** The files beside SKILL.md, relative to the skill's directory, with `/`. */
  readonly files: readonly string[];
  /** Whether `files` is only the beginning. */
  readonly moreFiles: boolean;
  /** The time of SKILL.md's last change, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** Serves a caller at the address that the agent already has. */
export type Reserve = (caller: McpCaller) => McpAddress;

/** The session whose skills are served, and the abilities of the other end. */
export interface Opening {
  /** The absolute path of the session's directory. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Whether the other end decides which skills are visible. Each call then has the visible ones. */
  readonly asksVisible: boolean;
  /** Whether the other end can ask the user. */
  readonly canAsk: boolean;
}

/** The facts about the caller of a tool. */
export interface CallFacts {
  readonly sessionId: string | undefined;
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

export type ToSkills =
  /** Requests an answer when the skills have been read. */
  | { readonly kind: "open"; readonly call: number }
  | ({
      readonly kind: "call";
      readonly call: number;
      readonly name: string;
      readonly args: unknown;
      /** The numbers of the visible skills; undefined for all. Skills that were not sent before are not visible. */
      readonly visible: readonly number[] | undefined;
    } & CallFacts)
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "close" }
  | { readonly kind: "answered"; readonly question: number; readonly reply: Reply }
  | { readonly kind: "list"; readonly call: number; readonly visible: readonly number[] | undefined };

/** The skills that changed, by canonical name. */
export interface SkillsChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** A message from the thread, other than an answer. */
export type FromSkills =
  /** Sent when the skills have been read, and after each change. `numbered`: every version, if the other end decides which are visible. */
  | {
      readonly kind: "skills";
      readonly problems: readonly Problem[];
      readonly numbered: readonly (readonly [number, Skill])[];
      readonly change?: SkillsChange;
    }
  | { readonly kind: "print"; readonly call: number; readonly text: string }
  | { readonly kind: "ask"; readonly question: number; readonly asked: Question }
  | { readonly kind: "withdrawn"; readonly question: number }
  /** Reports why there will be no skills. */
  | { readonly kind: "failed"; readonly error: PlainError };

/** The answer to a call. */
export type CallResult = { readonly value: unknown } | { readonly error: PlainError };
