import { randomUUID } from "node:crypto";
import { type Log, silentLog } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";
import { callEnded, callStarted, followCall, type ReportedCall } from "./tool-call-messages.ts";

export interface ReportOptions {
  readonly sessionId: string;
  readonly name: string;
  readonly args?: unknown;
  /** Sends a notification to the editor; the method is `session/update`. A returned promise is not awaited. */
  readonly send: (method: string, params: unknown) => unknown;
  /** The version of ACP that the editor speaks. Default: 1. */
  readonly protocol?: 1 | 2;
  /** Default: a random UUID. */
  readonly toolCallId?: string;
  /** Absolute paths of affected files, for editors that follow the agent. */
  readonly locations?: readonly string[];
  readonly log?: Log;
}

/** A call that is reported to the editor. */
export interface RunningCall {
  /** Reports the output of running code to the editor; pass it on as the option of the same name. */
  readonly onPrint: (text: string) => void;
}

/**
 * For agent authors who call our tools themselves: makes a call and reports it to the editor, as `tool_call` and `tool_call_update` with
 * kind, title, locations, raw input and raw output. Returns or throws what the call does; failures to send are only logged.
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

  function tell({ method, params }: ReturnType<typeof callStarted>): void {
    const untold = (error: unknown): void => {
      log("warning", `The editor was not told of a call of ${name}: ${String(error)}`);
    };
    try {
      Promise.resolve(send(method, params)).catch(untold);
    } catch (error) {
      untold(error);
    }
  }

  const onPrint = followCall(reported, (message, written) => {
    tell(message);
    written();
  });
  tell(callStarted(reported));
  try {
    const output = await call({ onPrint });
    tell(callEnded(reported, { status: "completed", output }));
    return output;
  } catch (error) {
    tell(callEnded(reported, { status: "failed", error: toWireError(error, { log }) }));
    throw error;
  }
}
