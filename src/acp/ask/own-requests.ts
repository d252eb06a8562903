import { LimitedMap } from "../../base/limited-map.ts";
import { cancelRequest } from "../../wire/methods.ts";
import { encodeMessage } from "../bytes/encode-message.ts";
import { isRecord } from "../bytes/raw-message.ts";
import { readEditorReply, type EditorReply } from "./editor-reply.ts";

interface OwnRequestsOptions {
  readonly send: (line: Uint8Array) => void;
  /** The first response to a request that is open. */
  readonly replied: (id: string, reply: EditorReply) => void;
}

/** How many requests that are over are remembered, because late responses must not reach the agent. */
const maxPast = 1_024;

/** Our own requests to the editor. Nobody else can guess their ids, so that a response with one of them is ours. */
export class OwnRequests {
  readonly #options: OwnRequestsOptions;
  readonly #open = new Set<string>();
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
    const { send, replied } = this.#options;
    if (!this.#isEditorHere) {
      replied(id, editorLeft);
      return;
    }
    this.#open.add(id);
    send(line);
  }

  /** Takes a response to one of our requests; false if the message is none. Of several, the first one counts. */
  take(message: unknown): boolean {
    if (!isRecord(message) || message["method"] !== undefined) return false;
    const { id } = message;
    if (typeof id !== "string") return false;
    if (!this.#open.has(id)) return this.#past.has(id);
    this.#end(id);
    this.#options.replied(id, readEditorReply(message));
    return true;
  }

  /** The answer is no longer needed. */
  withdraw(id: string): void {
    if (!this.#open.has(id)) return;
    this.#end(id);
    if (!this.#isEditorHere) return;
    this.#options.send(encodeMessage({ jsonrpc: "2.0", method: cancelRequest, params: { requestId: id } }));
  }

  /** Nobody waits for answers any longer. */
  withdrawAll(): void {
    for (const id of this.#open) this.withdraw(id);
  }

  /** Nobody will answer. */
  editorLeft(): void {
    this.#isEditorHere = false;
    for (const id of this.#open) {
      this.#end(id);
      this.#options.replied(id, editorLeft);
    }
  }

  #end(id: string): void {
    this.#open.delete(id);
    this.#past.set(id, true);
  }
}

const editorLeft: EditorReply = { fault: "the editor has left" };
