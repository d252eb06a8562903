import type { ToolName } from "../../tools/tool-names.ts";
import { sessionUpdate, toolCall, toolCallUpdate } from "../../wire/methods.ts";
import type { Notification } from "../announce/emission.ts";
import { isRecord, type JsonRecord } from "../bytes/raw-message.ts";

/** A call that an editor knows. */
export interface CallOfEditor {
  readonly sessionId: string;
  /** Unique in the session. */
  readonly toolCallId: string;
}

/** One call of a tool, as its editor is told of it. */
export interface ReportedCall extends CallOfEditor {
  readonly name: string;
  readonly args: unknown;
  /** The version of ACP that the editor speaks. */
  readonly protocol: 1 | 2;
  /** Absolute paths of files that the call is about. */
  readonly locations: readonly string[];
}

/** How a call ended. An error is told in the words of the wire (CONTRACT C-2.3). */
export type CallEnd =
  | { readonly status: "completed"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: { readonly message: string } };

/** The call has begun. */
export function callStarted(call: ReportedCall): Notification {
  const { protocol, toolCallId, name, args, locations } = call;
  return update(call, {
    // In v2 the first update of a call is what opens it.
    sessionUpdate: protocol === 2 ? toolCallUpdate : toolCall,
    toolCallId,
    title: toTitle(name, args),
    name,
    kind: toKind(name),
    status: "in_progress",
    rawInput: args ?? {},
    ...(locations.length > 0 && { locations: locations.map((path) => ({ path })) }),
  });
}

/**
 * Tells what a call prints while it runs. An update replaces the one before it, so that each carries the text again; while one is still
 * on its way to an editor that reads slowly, the next waits.
 */
export function followCall(
  call: CallOfEditor,
  send: (message: Notification, written: () => void) => void,
): (text: string) => void {
  let printed = "";
  let isUnread = false;
  let isBehind = false;
  function tell(): void {
    isUnread = true;
    send(callPrinted(call, printed), () => {
      isUnread = false;
      if (!isBehind) return;
      isBehind = false;
      tell();
    });
  }
  return (text) => {
    printed = `${printed}${text}`.slice(-longestPrinted);
    if (isUnread) isBehind = true;
    else tell();
  };
}

/** So many of the last characters that a call has printed are shown. */
export const longestPrinted = 4_096;

/** What a call has printed by now. */
function callPrinted(call: CallOfEditor, text: string): Notification {
  const { toolCallId } = call;
  const content = [{ type: "content", content: { type: "text", text } }];
  return update(call, { sessionUpdate: toolCallUpdate, toolCallId, status: "in_progress", content });
}

/** The call has ended. */
export function callEnded(call: ReportedCall, end: CallEnd): Notification {
  const { toolCallId } = call;
  const rawOutput = end.status === "completed" ? end.output : end.error;
  const text = end.status === "completed" ? textOf(end.output) : end.error.message;
  const content = text === undefined ? {} : { content: [{ type: "content", content: { type: "text", text } }] };
  // A run that failed is an answer of ours (CONTRACT C-2.3), and for a person a failure.
  const status = isRun(rawOutput) ? rawOutput.status : end.status;
  return update(call, { sessionUpdate: toolCallUpdate, toolCallId, status, ...content, rawOutput });
}

const titles = {
  list_skills: "List skills",
  describe_skill: "Describe skill",
  read_skill_file: "Read skill file",
  execute_skill: "Execute skill",
  run_code: "Run code",
  create_blob: "Create blob",
  read_blob: "Read blob",
  load_skills_protocol_guide: "Read the Skills Protocol guide",
} as const satisfies Record<ToolName, string>;

/** What is done, and to what: `Read skill file pdf/references/forms.md`. */
function toTitle(name: string, args: unknown): string {
  const title = Object.hasOwn(titles, name) ? titles[name as ToolName] : name;
  if (!isRecord(args)) return title;
  const object = [args["name"], args["path"]].filter((part) => typeof part === "string").join("/");
  const subject = object === "" ? args["blob_id"] : object;
  return typeof subject === "string" ? `${title} ${subject.slice(0, longestSubject)}` : title;
}

const longestSubject = 200;

function toKind(name: string): string {
  switch (name) {
    case "execute_skill":
    case "run_code":
      return "execute";
    case "create_blob":
      return "other";
    default:
      return "read";
  }
}

interface Run {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly logs_preview: string;
}

function isRun(output: unknown): output is Run {
  return isRecord(output) && "run_id" in output && "logs_preview" in output;
}

/** What a person would read of an answer: the text in it, where it has some; of a run what it printed, and how it ended. */
function textOf(output: unknown): string | undefined {
  if (isRun(output)) return `${output.logs_preview}${output.summary}`;
  const isText = isRecord(output) && output["encoding"] !== "base64" && typeof output["content"] === "string";
  return isText ? String(output["content"]) : undefined;
}

function update({ sessionId }: CallOfEditor, fields: JsonRecord): Notification {
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update: fields } };
}
