import type { Readable, Writable } from "node:stream";
import { readLines } from "./read-lines.ts";

export interface StdioMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
}

/** An MCP client over two streams that sends plain JSON of any revision. */
export interface StdioClient {
  /** Sends a request; resolves with the response. */
  ask(message: { readonly id: unknown }): Promise<StdioMessage>;
  /** Sends a message, or any text, as a line. */
  send(message: object | string): void;
  /** All received messages, in order. */
  readonly received: readonly StdioMessage[];
  /** Resolves with the first message for which this is true. */
  wait(isIt: (message: StdioMessage) => boolean): Promise<StdioMessage>;
}

/** `respond` answers requests of the server. */
export function openStdioClient(
  toServer: Writable,
  fromServer: Readable,
  respond: (message: StdioMessage) => object | undefined = () => undefined,
): StdioClient {
  const received: StdioMessage[] = [];
  const waiting = new Set<() => void>();
  const wait: StdioClient["wait"] = (isIt) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = received.find(isIt);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const send: StdioClient["send"] = (message) => {
    toServer.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  };
  const listen = async (): Promise<void> => {
    for await (const line of readLines(fromServer as AsyncIterable<Uint8Array>)) {
      const message = JSON.parse(line) as StdioMessage;
      received.push(message);
      const response = respond(message);
      if (response !== undefined) send(response);
      for (const look of [...waiting]) look();
    }
  };
  // A stream that a test destroys fails; the assertions on received messages decide whether that is correct.
  listen().catch(() => undefined);
  return {
    received,
    wait,
    send,
    ask(message) {
      send(message);
      return wait(({ id, method }) => id === message.id && method === undefined);
    },
  };
}

/** The opening message of each revision, to be followed by `legacyCall` or `modernRequest`. */
export function initialize(revision: string, capabilities: object = {}): { readonly id: unknown } {
  return {
    jsonrpc: "2.0",
    id: "open",
    method: "initialize",
    params: { protocolVersion: revision, capabilities, clientInfo: { name: "stdio", version: "1" } },
  } as { readonly id: unknown };
}
