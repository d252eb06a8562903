import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** What answers a request: the fields of the response. */
export type Reply = Pick<Message, "result" | "error">;

/** Two streams of a component: what goes in, and what comes out. */
export interface Stdio {
  readonly input: Writable;
  readonly output: Readable;
}

export interface Received {
  readonly method: string;
  readonly params: unknown;
  /** Undefined for a notification. */
  readonly respond: ((reply: Reply) => void) | undefined;
  readonly id: number | string | undefined;
}

/** One end of a JSON-RPC connection: its requests have ids of its own, and it cancels them itself. */
export class Peer {
  readonly #stdio: Stdio;
  readonly #open = new Map<number | string, (reply: Reply) => void>();
  #lastId = 0;

  constructor(stdio: Stdio, receive: (received: Received) => void) {
    this.#stdio = stdio;
    createInterface({ input: stdio.output }).on("line", (line) => {
      const { id, method, params, result, error } = JSON.parse(line) as Message;
      if (method === undefined) {
        if (id !== undefined) this.#open.get(id)?.(error === undefined ? { result } : { error });
        if (id !== undefined) this.#open.delete(id);
        return;
      }
      const respond = (reply: Reply): void => {
        this.#send({ id: id ?? "", ...reply });
      };
      receive({ method, params, id, respond: id === undefined ? undefined : respond });
    });
  }

  /** Returns the id of the request. */
  request(method: string, params: unknown, done: (reply: Reply) => void): number {
    const id = ++this.#lastId;
    this.#open.set(id, done);
    this.#send({ id, method, params });
    return id;
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  cancel(requestId: number | string): void {
    this.notify("$/cancel_request", { requestId });
  }

  close(): void {
    this.#stdio.input.end();
  }

  #send(message: Message): void {
    this.#stdio.input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}
