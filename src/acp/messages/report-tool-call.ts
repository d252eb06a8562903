import { randomUUID } from "node:crypto";
import { type Log, silentLog } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";
import { sessionUpdate, toolCall, toolCallUpdate } from "../../wire/methods.ts";
import { type Notification, sendWhenRead } from "../emission.ts";
import type { JsonRecord } from "./raw-message.ts";
import { isRun, textOf } from "./call-result.ts";
import { codeContent, describeCall, describeFailure, toTextContent } from "./describe-call.ts";

/** The session and form in which a call is reported. */
export interface ReportOptions {
  readonly sessionId: string;
  readonly name: string;
  readonly args?: unknown;
  /** Sends a notification to the editor; the method is `session/update`. A returned promise is not awaited. */
  readonly send: (method: string, params: unknown) => unknown;
  /** The version of ACP that the editor speaks. Default: 1. */
  readonly protocol?: 1 | 2;
  /** The id of the call in the editor. Default: a random UUID. */
  readonly toolCallId?: string;
  /** Absolute paths of affected files, for editors that follow the agent. */
  readonly locations?: readonly string[];
  readonly log?: Log;
}

/** A call that is reported to the editor. */
export interface RunningCall {
  /** Reports the output of running code to the editor. Pass it on as the option of the same name. */
  readonly onPrint: (text: string) => void;
}

/**
 * Makes a call and reports it to the editor, for agent authors who call the tools themselves. It sends `tool_call` and `tool_call_update`
 * with kind, title, locations, raw input and raw output. Resolves or rejects like the call; failures to send are only logged.
 */
export async function reportToolCall<Output>(
  options: ReportOptions,
  call: (running: RunningCall) => Promise<Output>,
): Promise<Output> {
  const {
    sessionId,
    name,
    args,
    send,
    protocol = 1,
    toolCallId = randomUUID(),
    locations = [],
    log = silentLog,
  } = options;
  const reported: ReportedCall = { sessionId, toolCallId, name, args, protocol, locations };

  function notify({ method, params }: ReturnType<typeof callStarted>): void {
    const failed = (error: unknown): void =>
      log("warning", `A call of ${name} could not be reported to the editor: ${String(error)}`);
    try {
      Promise.resolve(send(method, params)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  const onPrint = followCall(reported, (message, written) => {
    notify(message);
    written();
  });
  notify(callStarted(reported));
  try {
    const output = await call({ onPrint });
    notify(callEnded(reported, { status: "completed", output }));
    return output;
  } catch (error) {
    notify(callEnded(reported, { status: "failed", error: toWireError(error, { log }) }));
    throw error;
  }
}

/** The ids of a call that the editor knows. */
export interface CallOfEditor {
  readonly sessionId: string;
  /** The id of the call, unique in the session. */
  readonly toolCallId: string;
}

/** The facts of a call that are reported to the editor. */
type ReportedCall = Required<Omit<ReportOptions, "send" | "log">>;

/** The end of a call: its output, or its error as on the wire. */
type CallEnd =
  | { readonly status: "completed"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: { readonly message: string } };

/** Makes the update that reports a new call. */
function callStarted(call: ReportedCall): Notification {
  const { protocol, toolCallId, name, args, locations } = call;
  const content = codeContent(name, args);
  return update(call, {
    // In v2 the first update of a call creates it.
    sessionUpdate: protocol === 2 ? toolCallUpdate : toolCall,
    toolCallId,
    ...describeCall(name, args),
    ...(content && { content }),
    name,
    status: "in_progress",
    rawInput: args ?? {},
    ...(locations.length > 0 && { locations: locations.map((path) => ({ path })) }),
  });
}

/**
 * Returns a function that reports the output of a running call. Each update replaces the previous one and has the last `maxPrintedLength`
 * characters. It waits until the editor has read the previous update.
 */
export function followCall(
  call: CallOfEditor,
  send: (message: Notification, written: () => void) => void,
): (text: string) => void {
  let printed = "";
  const report = sendWhenRead((written) => send(callPrinted(call, printed), written));
  return (text) => {
    printed = `${printed}${text}`.slice(-maxPrintedLength);
    report();
  };
}

/** The maximum number of characters of output that are shown: the last ones. */
export const maxPrintedLength = 4_096;

function callPrinted(call: CallOfEditor, text: string): Notification {
  const { toolCallId } = call;
  const content = toTextContent(text);
  return update(call, { sessionUpdate: toolCallUpdate, toolCallId, status: "in_progress", content });
}

/** Makes the update that reports the end of a call. */
function callEnded(call: ReportedCall, end: CallEnd): Notification {
  const { toolCallId, name, args } = call;
  const rawOutput = end.status === "completed" ? end.output : end.error;
  const text = end.status === "completed" ? textOf(end.output) : end.error.message;
  const title = describeFailure(describeCall(name, args).title, rawOutput);
  // A failed run is a result of the tool, but is shown to the user as a failed call.
  const status = isRun(rawOutput) ? rawOutput.status : end.status;
  return update(call, {
    sessionUpdate: toolCallUpdate,
    toolCallId,
    status,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { content: toTextContent(text) }),
    rawOutput,
  });
}

function update({ sessionId }: CallOfEditor, fields: JsonRecord): Notification {
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update: fields } };
}
