import type { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  type JSONRPCMessage,
  type McpServer,
  ProtocolErrorCode,
  type Transport,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isObject, parseIfJson } from "../base/json/json-value.ts";
import { LineBlocks } from "../base/json/line-blocks.ts";
import type { McpCaller, McpApp } from "./mcp-caller.ts";
import { createMcpServerFactory, declaresForms, declaresSkillsExtension } from "./mcp-server.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** The stream to the client, for the protocol only. */
  readonly output: Writable;
  /** The signal that is aborted when the client has exited, even if a stream still seems open. */
  readonly gone?: AbortSignal;
}

/** The maximum size of a message. The largest blob under the default limits fits even if JSON escapes every byte as 6 bytes. */
const maxMessageBytes = 64 * 1024 * 1024;

/** The maximum time that calls may continue after the client closed its end. */
const lastAnswersMs = 5_000;

/**
 * Serves one MCP client over stdio, in any revision. Resolves when the output is closed or `gone` is aborted. After the client has closed
 * its end, it resolves when every request is answered, at most 5 s later. Calls that still run are cancelled.
 */
export async function serveMcp(app: McpApp, caller: McpCaller, streams: StdioStreams): Promise<void> {
  const { input, output, gone } = streams;
  const { log, clock } = app;
  const makeServer = createMcpServerFactory(app, caller);
  const servers = new Set<McpServer>();
  const stop = caller.skills.onChange?.(() => {
    for (const server of servers) notifyOfChange(server, app);
  });
  let hasDeclared = false;
  let answersQuestions = false;
  const { transport, ended: inputEnded } = openLineTransport(streams, (message) => {
    hasDeclared ||= declaresSkillsExtension(message);
    answersQuestions ||= declaresForms(message);
  });
  let stopWaiting = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    input.once("end", () => {
      stopWaiting = clock.after(lastAnswersMs, () => {
        log("warning", "The client closed its end; calls that still ran were cancelled.");
        resolve();
      });
    });
    void inputEnded.then(resolve);
    for (const event of ["error", "close"] as const) output.on(event, () => resolve());
    gone?.addEventListener("abort", () => resolve(), { once: true });
  });
  const handle = serveStdio(
    async () => {
      const server = await makeServer({
        notifiesOfChanges: true,
        declaresSkills: hasDeclared,
        answersQuestions,
        hasInstructions: true,
      });
      if (hasDeclared) servers.add(server);
      server.server.onclose = () => void servers.delete(server);
      return server;
    },
    {
      transport,
      onerror: (error) => log("info", `MCP: ${error.message}`),
    },
  );
  await ended;
  stopWaiting();
  stop?.();
  await handle.close();
  input.destroy();
}

function notifyOfChange(server: McpServer, { log }: McpApp): void {
  if (!server.isConnected()) return;
  server.server
    .sendResourceListChanged()
    .catch((error: unknown) =>
      log("info", `A change of the skills could not be announced to a client: ${String(error)}`),
    );
}

/** The method of a request that gets no answer, because it lasts as long as the connection. */
const endless = "subscriptions/listen";

/**
 * Opens MCP over two streams, one message per line. The library's transport does not answer invalid messages as JSON-RPC requires; this
 * one does. It also answers pending requests after its input ends, so that a file of requests can be piped in. `onMessage` receives every
 * message before the server does; it must not throw. `ended` resolves when the input has ended and every request is answered, or when the
 * input failed.
 */
function openLineTransport({ input, output }: StdioStreams, onMessage: (message: JSONRPCMessage) => void) {
  const unanswered = new Set<unknown>();
  let isClosed = false;
  let whenAnswered = (): void => undefined;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));

  async function read(): Promise<void> {
    for await (const line of readLines(input as AsyncIterable<Buffer>)) {
      if (isClosed) return;
      if (line.trim() !== "") take(line);
    }
    // The server takes the last message in the next turn of the event loop.
    await setImmediate();
    if (unanswered.size > 0) await new Promise<void>((resolve) => (whenAnswered = resolve));
  }

  function take(line: string): void {
    const message = parseIfJson(line);
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

  /** Answers an invalid message. The id may be null, which the types of the library's `send` do not allow. */
  function refuse(id: string | number | null, code: number, message: string): void {
    write({ jsonrpc: "2.0", id, error: { code, message } }).catch((error: unknown) =>
      transport.onerror?.(toError(error)),
    );
  }

  function note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== endless) unanswered.add(message.id);
    // A cancelled request gets no answer.
    if (message.method === "notifications/cancelled") markAnswered(message.params?.["requestId"]);
  }

  function markAnswered(id: unknown): void {
    if (unanswered.delete(id) && unanswered.size === 0) whenAnswered();
  }

  async function write(message: object): Promise<void> {
    if (isClosed) throw new Error("The connection is closed.");
    await new Promise<void>((resolve, reject) =>
      output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
    );
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
        if (!("method" in message) && "id" in message) markAnswered(message.id);
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

/** Splits a byte stream into lines at `\n`; the last line may lack it. Throws for a line of more than `maxMessageBytes`. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const lines = new LineBlocks();
  for await (const chunk of chunks) {
    for (const line of lines.lines(chunk)) yield line.toString("utf8");
    if (lines.pending > maxMessageBytes)
      throw new Error(`The client sent a line of more than ${maxMessageBytes} bytes.`);
  }
  const rest = lines.rest();
  if (rest !== undefined) yield rest.toString("utf8");
}

function isMessage(value: unknown): value is JSONRPCMessage {
  // Without this check, a request with an invalid id would be taken for a notification.
  if (isObject(value) && "method" in value && "id" in value) return isJSONRPCRequest(value);
  return isJSONRPCNotification(value) || isJSONRPCResultResponse(value) || isJSONRPCErrorResponse(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
