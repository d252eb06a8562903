import { LimitedMap } from "../../../base/limited-map.ts";
import { cancelRequest } from "../../../wire/methods.ts";
import { encodeMessage } from "../../emission.ts";
import { isRecord } from "../../messages/raw-message.ts";
import { readEditorReply, type EditorReply } from "../../messages/editor-reply.ts";

interface OwnRequestsOptions {
  /** `written` is called when the line was written, or never will be. */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** The editor has been sent the request. */
  readonly shown: (id: string) => void;
  /** The first response to a request that is open, and how long the editor took: 0 if it did not wait for all of it. */
  readonly replied: (id: string, reply: EditorReply, elapsedMs: number) => void;
  /** The time, in milliseconds, without what this thread and unfinished lines took. */
  readonly time: () => number;
}

/** How many finished requests are remembered: late responses to them must not reach the agent. */
const maxPast = 1_024;

/** Our own requests to the editor. Nobody else can guess their ids, so that a response with one of them is ours. */
export class OwnRequests {
  readonly #options: OwnRequestsOptions;
  /** When each request was written; undefined until then. */
  readonly #open = new Map<string, number | undefined>();
  readonly #past = new LimitedMap<string, true>(maxPast);
  #isEditorHere = true;

  constructor(options: OwnRequestsOptions) {
    this.#options = options;
  }

  /** Nothing was requested. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#past.size === 0;
  }

  request(id: string, line: Uint8Array): void {
    const { send, shown, replied, time } = this.#options;
    if (!this.#isEditorHere) {
      replied(id, editorLeft, 0);
      return;
    }
    this.#open.set(id, undefined);
    send(line, () => {
      if (!this.#open.has(id)) return;
      this.#open.set(id, time());
      shown(id);
    });
  }

  /** Takes a response to one of our requests; false for any other message. Only the first response to a request counts. */
  take(message: unknown): boolean {
    if (!isRecord(message) || message["method"] !== undefined) return false;
    const { id } = message;
    if (typeof id !== "string") return false;
    if (!this.#open.has(id)) return this.#past.has(id);
    const shownAt = this.#open.get(id);
    const elapsedMs = shownAt === undefined ? 0 : this.#options.time() - shownAt;
    this.#end(id);
    this.#options.replied(id, readEditorReply(message), elapsedMs);
    return true;
  }

  /** The answer is no longer needed. */
  withdraw(id: string): void {
    if (!this.#open.has(id)) return;
    this.#end(id);
    if (!this.#isEditorHere) return;
    const cancel = encodeMessage({ jsonrpc: "2.0", method: cancelRequest, params: { requestId: id } });
    this.#options.send(cancel, () => undefined);
  }

  /** Nobody waits for answers any longer. */
  withdrawAll(): void {
    for (const id of this.#open.keys()) this.withdraw(id);
  }

  /** Nobody will answer. */
  editorLeft(): void {
    this.#isEditorHere = false;
    for (const id of this.#open.keys()) {
      this.#end(id);
      this.#options.replied(id, editorLeft, 0);
    }
  }

  #end(id: string): void {
    this.#open.delete(id);
    this.#past.set(id, true);
  }
}

const editorLeft: EditorReply = { fault: "the editor has left" };
