import { encodeMessage } from "../bytes/encode-message.ts";
import type { ServiceConnection } from "../service/skill-service.ts";

type Id = string | number;

/** Requests that wait for a response, by id; a string and a number are different ids. */
export class PendingRequests<Request> {
  readonly #limit: number;
  readonly #dropped: (request: Request) => void;
  #waiting: { readonly id: Id; readonly request: Request }[] = [];

  /** Holds at most `limit` requests: beyond that, the oldest is dropped. */
  constructor(limit: number, dropped: (request: Request) => void) {
    this.#limit = limit;
    this.#dropped = dropped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(id: Id, request: Request): void {
    this.#waiting.push({ id, request });
    const oldest = this.#waiting.length > this.#limit ? this.#waiting.shift() : undefined;
    if (oldest !== undefined) this.#dropped(oldest.request);
  }

  /** Takes the oldest request with this id: an editor may reuse an id. */
  take(id: Id): Request | undefined {
    const index = this.#waiting.findIndex((entry) => entry.id === id);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0]?.request;
  }

  dropAll(): void {
    for (const { request } of this.#waiting.splice(0)) this.#dropped(request);
  }
}

/** The error for requests that were running when the thread of the service ended (CONTRACT C-2.3). */
const serviceEnded = {
  code: -32000,
  message:
    "Skills and tools stopped because of an internal error; see the log of acp-skills. Open a new session to restart them.",
  data: { code: "RUNTIME_BUSY", retryable: true },
} as const;

/** The editor's own `_acp-skills/…` requests that have no response yet. */
export class EditorRequests {
  readonly #waiting = new Set<unknown>();
  readonly #send: (line: Uint8Array) => void;

  constructor(send: (line: Uint8Array) => void) {
    this.#send = send;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(id: unknown): id is Id {
    return this.#waiting.has(id);
  }

  call(service: Pick<ServiceConnection, "callTool">, id: Id, method: string, params: unknown): void {
    this.#waiting.add(id);
    try {
      service.callTool({ id, method, params });
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
  }

  answered(id: Id): void {
    this.#waiting.delete(id);
  }

  /** Responds to every waiting request with an error. */
  serviceEnded(): void {
    for (const id of this.#waiting) this.#send(encodeMessage({ jsonrpc: "2.0", id, error: serviceEnded }));
    this.#waiting.clear();
  }
}
