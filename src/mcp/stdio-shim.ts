import type { Readable, Writable } from "node:stream";
import type { Log } from "../log.ts";
import type { BridgeTarget } from "./bridge-environment.ts";
import { postMessage } from "./bridge-post.ts";
import { readLines } from "./read-lines.ts";
import { toRecord, toRequestHeaders } from "./request-headers.ts";
import { whenParentGone } from "./when-parent-gone.ts";
import type { ParentOptions } from "./when-parent-gone.ts";

export interface StdioShimOptions extends ParentOptions {
  /** From the agent. */
  readonly input: Readable;
  /** To the agent. */
  readonly output: Writable;
  readonly target: BridgeTarget;
  readonly log: Log;
}

/**
 * Carries MCP between stdio and the loopback server of the process that had this one started, for agents without HTTP. It
 * knows no tool and no revision. Resolves when the agent closes its end, goes away, or takes no more; what was under way is given
 * up then, and so cancelled.
 */
export async function runStdioShim(options: StdioShimOptions): Promise<void> {
  const { input, output, log } = options;
  const running = new Map<AbortController, unknown>();
  const carry = openCarrier(options, running);
  const end = (): void => void input.destroy();
  const stopLooking = whenParentGone(options, end);
  output.once("error", end).once("close", end);
  try {
    for await (const line of readLines(input as AsyncIterable<Uint8Array>)) {
      // Messages travel side by side: one that takes long holds up no other.
      if (line.trim() !== "") void carry(line);
    }
  } catch (error) {
    // Ending the input ourselves shows up here as well.
    if (!input.destroyed) log("warning", `Reading from the agent failed: ${String(error)}`);
  } finally {
    stopLooking();
    output.off("close", end);
    for (const controller of running.keys()) controller.abort();
  }
}

function openCarrier(
  { output, target, log }: StdioShimOptions,
  running: Map<AbortController, unknown>,
): (line: string) => Promise<void> {
  let settledRevision: string | undefined;

  function write(text: string): void {
    // JSON has line ends between its tokens only.
    output.write(`${text.replace(/[\r\n]+/g, " ")}\n`);
  }
  function writeError(id: unknown, message: string): void {
    write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message } }));
  }

  /** Whether a text is the answer to the message; learns the revision from the answer to `initialize`. */
  function isAnswer(text: string, id: unknown, method: unknown): boolean {
    const answer = toRecord(parse(text));
    if (answer.id !== id || "method" in answer) return false;
    const { protocolVersion } = toRecord(answer.result);
    if (method === "initialize" && typeof protocolVersion === "string") settledRevision = protocolVersion;
    return true;
  }

  async function exchange(line: string, message: unknown, signal: AbortSignal): Promise<void> {
    const { id, method } = toRecord(message);
    const isRequest = id !== undefined && method !== undefined;
    const posted = await postMessage(target, line, toRequestHeaders(message, settledRevision), signal);
    let isAnswered = false;
    for await (const text of posted.texts) {
      const answered = isAnswer(text, id, method);
      if (posted.status < 300 || answered) write(text);
      else if (isRequest) write(JSON.stringify({ ...toRecord(parse(text)), jsonrpc: "2.0", id }));
      isAnswered ||= answered || posted.status >= 300 || Array.isArray(message);
    }
    if (isRequest && !isAnswered && !signal.aborted) writeError(id, `The skills server answered ${posted.status}.`);
  }

  return async (line) => {
    const message = parse(line);
    if (message === undefined) {
      write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is not JSON."}}');
      return;
    }
    const { id, method, params } = toRecord(message);
    if (method === "notifications/cancelled" && cancel(running, toRecord(params).requestId)) return;
    const controller = new AbortController();
    running.set(controller, method === undefined ? undefined : id);
    try {
      await exchange(line, message, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      log("error", `The skills server cannot be reached: ${String(error)}`);
      if (id !== undefined && method !== undefined) writeError(id, "The skills server cannot be reached.");
    } finally {
      running.delete(controller);
    }
  };
}

/** Gives up a request by breaking its connection, which every revision takes for a cancellation. */
function cancel(running: ReadonlyMap<AbortController, unknown>, id: unknown): boolean {
  for (const [controller, runningId] of running) {
    if (id === undefined || runningId !== id) continue;
    controller.abort();
    return true;
  }
  return false;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Told to whoever sent it.
    return undefined;
  }
}
