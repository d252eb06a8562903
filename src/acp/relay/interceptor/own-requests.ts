import { LimitedMap } from "../../../base/limited-map.ts";
import { cancelRequest } from "../../../wire/methods.ts";
import { encodeMessage } from "../../emission.ts";
import { isRecord } from "../../messages/raw-message.ts";
import { readEditorReply, type EditorReply } from "../../messages/editor-reply.ts";

interface OwnRequestsOptions {
  /** Sends a line to the editor. `written` is called when the line was written, or never will be. */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** Called when the request has been written to the editor. */
  readonly shown: (id: string) => void;
  /** Called with the first response to an open request and the editor's time for it: 0 if the request was not fully written. */
  readonly replied: (id: string, reply: EditorReply, elapsedMs: number) => void;
  /** The current time, in milliseconds, less the time that this thread was busy or waited for the rest of a line. */
  readonly time: () => number;
}

/** The maximum number of finished requests that are remembered: late responses to them must not reach the agent. */
const maxPast = 1_024;

/** The requests of acp-skills to the editor. Nobody else can guess their ids, so a response with such an id answers one of them. */
export class OwnRequests {
  readonly #options: OwnRequestsOptions;
  /** The time at which each open request was written, by id; undefined until then. */
  readonly #open = new Map<string, number | undefined>();
  readonly #past = new LimitedMap<string, true>(maxPast);
  #isEditorHere = true;

  constructor(options: OwnRequestsOptions) {
    this.#options = options;
  }

  /** Whether no request is open or remembered. */
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

  /** Takes a response to one of these requests; returns false for any other message. Only the first response to a request counts. */
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

  /** Cancels a request, whose answer is no longer needed. */
  withdraw(id: string): void {
    if (!this.#open.has(id)) return;
    this.#end(id);
    if (!this.#isEditorHere) return;
    const cancel = encodeMessage({ jsonrpc: "2.0", method: cancelRequest, params: { requestId: id } });
    this.#options.send(cancel, () => undefined);
  }

  /** Cancels all open requests, for whose answers nobody waits any longer. */
  withdrawAll(): void {
    for (const id of this.#open.keys()) this.withdraw(id);
  }

  /** Ends all open requests, because the editor will not answer them. */
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
