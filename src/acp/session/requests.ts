import { encodeMessage } from "../bytes/encode-message.ts";
import type { ServiceConnection } from "../service/skill-service.ts";

/** Requests that wait for a response, by id; a string and a number are different ids. */
interface PendingRequests<Request> {
  readonly isEmpty: boolean;
  add(id: string | number, request: Request): void;
  /** Takes the oldest request with this id: an editor may reuse an id. */
  take(id: string | number): Request | undefined;
  takeAll(): readonly Request[];
}

/** Holds at most `limit` requests: beyond that, the oldest is dropped and passed to `forgotten`. */
export function openPendingRequests<Request>(
  limit: number,
  forgotten: (request: Request) => void,
): PendingRequests<Request> {
  let waiting: { readonly id: string | number; readonly request: Request }[] = [];
  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    add(id, request) {
      waiting.push({ id, request });
      if (waiting.length <= limit) return;
      const oldest = waiting.shift();
      if (oldest !== undefined) forgotten(oldest.request);
    },
    take(id) {
      const index = waiting.findIndex((entry) => entry.id === id);
      return index === -1 ? undefined : waiting.splice(index, 1)[0]?.request;
    },
    takeAll() {
      const all = waiting.map(({ request }) => request);
      waiting = [];
      return all;
    },
  };
}

type Id = string | number;

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

  has(id: unknown): boolean {
    return this.#waiting.has(id);
  }

  ask(service: Pick<ServiceConnection, "ask">, id: Id, method: string, params: unknown): void {
    this.#waiting.add(id);
    try {
      service.ask({ id, method, params });
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
