import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Log } from "../base/log.ts";
import type { RunListener } from "../wire/run-event.ts";
import type { Ask } from "../runtime/question.ts";
import { type WireError, toWireError } from "../wire/error-table.ts";
import { servedTools } from "../wire/tools.ts";
import { askByRequest, limitQuestions } from "./questions/elicit.ts";
import type { McpCaller, McpApp } from "./mcp-caller.ts";
import { SuspendedCalls } from "./questions/suspended-calls.ts";

/** The parameters of `tools/call`. */
interface CalledTool {
  readonly name: string;
  readonly arguments?: unknown;
  readonly _meta?:
    { readonly progressToken?: string | number | undefined; readonly [key: string]: unknown } | undefined;
}

/** How the person at the client is asked: by a request of ours, or by a result that asks for input. */
export type AskBy = "request" | "result";

type CallTool = (
  params: CalledTool,
  request: ServerContext["mcpReq"],
  client: { readonly askBy: AskBy | undefined },
) => Promise<CallToolResult | InputRequiredResult>;

/** Calls the tools for one caller. */
export function createCallTool(app: McpApp, caller: McpCaller): CallTool {
  const { toolbox, log, clock } = app;
  const suspended = new SuspendedCalls(clock);
  const limited = limitQuestions();

  async function perform(
    { name, arguments: args }: CalledTool,
    given: { readonly signal: AbortSignal; readonly onEvent: RunListener | undefined; readonly ask: Ask | undefined },
  ): Promise<CallToolResult> {
    const { signal, onEvent, ask } = given;
    const { turn } = caller;
    try {
      // Copied for each call: the session id may be known only after the server was opened.
      const context = { ...caller, ...(onEvent && { onEvent }), ...(ask && { ask: limited(ask) }) };
      const either = turn === undefined ? signal : AbortSignal.any([signal, turn]);
      const output = await toolbox.call(name, args, context, either);
      return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
    } catch (error) {
      // A cancelled request gets no answer.
      signal.throwIfAborted();
      return turn?.aborted === true ? turnCancelled(name) : toErrorResult(toWireError(error, { log }));
    }
  }

  return async (called, request, { askBy }) => {
    const { name, arguments: args, _meta: meta } = called;
    const { signal, notify, send, requestState, inputResponses } = request;
    // The other tools report nothing while they work.
    const isFollowed = servedTools.get(name)?.executes === true;
    const listeners = [
      ...(!isFollowed || meta?.progressToken === undefined ? [] : [toProgress(meta.progressToken, notify, log)]),
      isFollowed ? caller.follow?.({ toolCallId: toolCallIdIn(meta), tool: name, input: args }) : undefined,
    ].filter((listener) => listener !== undefined);
    const notifyAll: RunListener = (event) => {
      for (const listener of listeners) listener(event);
    };
    const onEvent = listeners.length === 0 ? undefined : notifyAll;
    if (askBy === "result") {
      const leg = { signal, requestState, inputResponses, onEvent: notifyAll };
      return await suspended.answer(leg, (given) => perform(called, given));
    }
    const ask = askBy === "request" ? askByRequest(send, clock) : undefined;
    return await perform(called, { signal, onEvent, ask });
  };
}

function turnCancelled(name: string): CallToolResult {
  return { content: [{ type: "text", text: `${name} was cancelled: the user cancelled the turn.` }], isError: true };
}

/** A refusal is a tool result that the model reads; only an unknown tool is a protocol error. */
function toErrorResult(error: WireError): CallToolResult {
  if (error.data.code === "METHOD_NOT_FOUND") {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.data);
  }
  return { content: [{ type: "text", text: JSON.stringify(error) }], structuredContent: { ...error }, isError: true };
}

/** The id of a call in the client's editor; Claude's clients send it. */
function toolCallIdIn(meta: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const id = meta?.["claudecode/toolUseId"];
  return typeof id === "string" ? id : undefined;
}

/** Sends the output of a run, and that it waits for others, as progress to a client that asked for it. */
function toProgress(progressToken: string | number, notify: ServerContext["mcpReq"]["notify"], log: Log): RunListener {
  let progress = 0;
  const send = (message: string): void => {
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: "notifications/progress", params }).catch((error: unknown) =>
      log("info", `A progress notification could not be sent: ${String(error)}`),
    );
  };
  return (event) => {
    if (event.type === "queued" && event.behind > 0) send("Waiting for other runs to end.\n");
    if (event.type === "printed") send(event.text);
  };
}
