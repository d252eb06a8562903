import type { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

/** Is never answered: it lasts as long as the connection. */
const endless = "subscriptions/listen";

export interface LineOptions {
  readonly maxLineBytes: number;
  /** Sees every message before the server does. Must not throw. */
  readonly onMessage: (message: JSONRPCMessage) => void;
}

export interface LineTransport {
  readonly transport: Transport;
  /** Resolves when the input has ended and what was asked before is answered, and when the input broke. */
  readonly ended: Promise<void>;
}

/**
 * MCP over two streams, a message a line. The library's own transport leaves what is no message unanswered, and closes at once when its
 * input ends; this one answers what cannot be read as JSON-RPC wants it, and what was asked before the end, so that a file of
 * requests can be its input.
 */
export function openLineTransport(
  input: Readable,
  output: Writable,
  { maxLineBytes, onMessage }: LineOptions,
): LineTransport {
  const unanswered = new Set<unknown>();
  let isClosed = false;
  let whenAnswered = (): void => undefined;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));

  async function read(): Promise<void> {
    for await (const line of readLines(input as AsyncIterable<Uint8Array>, maxLineBytes)) {
      if (isClosed) return;
      if (line.trim() !== "") take(line);
    }
    // What was read last is on its way to the server still.
    await setImmediate();
    if (unanswered.size > 0) await new Promise<void>((resolve) => (whenAnswered = resolve));
  }

  function take(line: string): void {
    const message = parse(line);
    if (message === undefined) refuse(null, ProtocolErrorCode.ParseError, "The line is not JSON.");
    else if (isMessage(message)) {
      note(message);
      onMessage(message);
      transport.onmessage?.(message);
    } else if (isObject(message) && !("method" in message) && ("result" in message || "error" in message)) {
      // An answer is not answered, whatever it looks like.
      transport.onerror?.(new Error("An answer of the client's is no JSON-RPC."));
    } else {
      const id = isObject(message) && isId(message.id) ? message.id : null;
      refuse(id, ProtocolErrorCode.InvalidRequest, "The line is no JSON-RPC 2.0 message as MCP has them.");
    }
  }

  /** What is no message of MCP's has an answer that is none, either: it may have no id. */
  function refuse(id: string | number | null, code: number, message: string): void {
    write({ jsonrpc: "2.0", id, error: { code, message } }).catch((error: unknown) =>
      transport.onerror?.(toError(error)),
    );
  }

  function note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== endless) unanswered.add(message.id);
    // Whoever gives a request up is not answered.
    if (message.method === "notifications/cancelled") settle(message.params?.["requestId"]);
  }

  function settle(id: unknown): void {
    if (unanswered.delete(id) && unanswered.size === 0) whenAnswered();
  }

  async function write(message: object): Promise<void> {
    if (isClosed) throw new Error("The connection is closed.");
    await new Promise<void>((resolve, reject) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  const transport: Transport = {
    start() {
      read()
        .catch((error: unknown) => transport.onerror?.(toError(error)))
        .finally(end);
      return Promise.resolve();
    },
    async send(message) {
      try {
        await write(message);
      } finally {
        if (!("method" in message) && "id" in message) settle(message.id);
      }
    },
    close() {
      if (isClosed) return Promise.resolve();
      isClosed = true;
      whenAnswered();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  return { transport, ended };
}

const newline = 0x0a;

/** The lines of a stream of bytes, split at `\n` only; a last line without an end counts. Throws when one is too long. */
async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > maxBytes) throw new Error(`A line of more than ${maxBytes} bytes was sent.`);
    parts.push(part);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, at));
      yield Buffer.concat(parts).toString("utf8");
      [parts, length, start] = [[], 0, at + 1];
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString("utf8");
}

function isMessage(value: unknown): value is JSONRPCMessage {
  // A request with an odd id would pass for a notification.
  if (isObject(value) && "method" in value && "id" in value) return isJSONRPCRequest(value);
  return isJSONRPCNotification(value) || isJSONRPCResultResponse(value) || isJSONRPCErrorResponse(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // Told to whoever sent it.
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
