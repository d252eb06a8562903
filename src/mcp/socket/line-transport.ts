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

/** Has no answer: it lasts as long as the connection. */
const endless = "subscriptions/listen";

export interface LineOptions {
  readonly maxLineBytes: number;
  /** Called with every message before the server gets it. Must not throw. */
  readonly onMessage: (message: JSONRPCMessage) => void;
}

export interface LineTransport {
  readonly transport: Transport;
  /** Resolves when the input ended and every request is answered, or when the input failed. */
  readonly ended: Promise<void>;
}

/**
 * MCP over two streams, one message per line. Unlike the library's transport it answers invalid messages as JSON-RPC requires, and answers
 * pending requests when its input ends, so that a file of requests can be piped in.
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
    // The server takes the last message in the next turn of the event loop.
    await setImmediate();
    if (unanswered.size > 0) await new Promise<void>((resolve) => (whenAnswered = resolve));
  }

  function take(line: string): void {
    const message = parse(line);
    if (message === undefined) refuse(null, ProtocolErrorCode.ParseError, "The line is not valid JSON.");
    else if (isMessage(message)) {
      note(message);
      onMessage(message);
      transport.onmessage?.(message);
    } else if (isObject(message) && !("method" in message) && ("result" in message || "error" in message)) {
      // A response gets no response, not even an invalid one.
      transport.onerror?.(new Error("The client sent an invalid JSON-RPC response."));
    } else {
      const id = isObject(message) && isId(message.id) ? message.id : null;
      refuse(id, ProtocolErrorCode.InvalidRequest, "The line is not a valid JSON-RPC 2.0 message of MCP.");
    }
  }

  /** Not `send`: the id may be null, which the library's types do not allow. */
  function refuse(id: string | number | null, code: number, message: string): void {
    write({ jsonrpc: "2.0", id, error: { code, message } }).catch((error: unknown) =>
      transport.onerror?.(toError(error)),
    );
  }

  function note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== endless) unanswered.add(message.id);
    // A cancelled request gets no answer.
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

/** Splits a byte stream into lines at `\n`; the last line may lack it. Throws for a line that is too long. */
async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > maxBytes) throw new Error(`The client sent a line of more than ${maxBytes} bytes.`);
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
  // Without this, a request with an invalid id would be taken for a notification.
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
    return undefined; // The sender gets an error.
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
