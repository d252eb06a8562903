import { type Deferred, createDeferred } from "../../../base/promises.ts";
import { encodeMessage } from "../../emission.ts";
import type { ServiceConnection } from "../../skill-service.ts";

type Id = string | number;

/** The error for requests that were running when the thread of the service ended. */
const serviceEnded = {
  code: -32000,
  message:
    "Skills and tools stopped because of an internal error; see the log of acp-skills. Open a new session to restart them.",
  data: { code: "RUNTIME_BUSY", retryable: true },
} as const;

/** The maximum number of the editor's unanswered requests and unread lines, in sum. At that number, the editor's next request waits. */
const maxUnread = 256;

/** The editor's own `_acp-skills/…` requests without a response, and the number of sent lines that the editor has not read. */
export class EditorRequests {
  readonly #waiting = new Set<unknown>();
  #unread = 0;
  #hasLeft = false;
  #room: Deferred<void> | undefined;
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

  /** Called just before the response to this request is sent. */
  answered(id: Id): void {
    this.#waiting.delete(id);
  }

  /** Counts a line that is sent to the editor. Returns a function to call when the line was written. */
  sent(written: () => void): () => void {
    this.#unread += 1;
    return () => {
      this.#unread -= 1;
      this.#makeRoom();
      written();
    };
  }

  /** Resolves when the editor has read enough for another request; undefined if it has already. */
  room(): Promise<void> | undefined {
    if (!this.#isFull) return undefined;
    this.#room ??= createDeferred();
    return this.#room.promise;
  }

  /** Called when the editor has sent its last request: nothing waits any longer for the editor to read. */
  editorLeft(): void {
    this.#hasLeft = true;
    this.#makeRoom();
  }

  get #isFull(): boolean {
    return !this.#hasLeft && this.#waiting.size + this.#unread >= maxUnread;
  }

  #makeRoom(): void {
    if (this.#isFull) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Responds to every waiting request with an error. */
  serviceEnded(): void {
    for (const id of this.#waiting) this.#send(encodeMessage({ jsonrpc: "2.0", id, error: serviceEnded }));
    this.#waiting.clear();
    this.#makeRoom();
  }
}
