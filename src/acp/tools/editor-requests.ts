import { encodeMessage } from "../bytes/encode-message.ts";
import type { ServiceConnection } from "../service/skill-service.ts";

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
