import { LimitedMap } from "../../../base/limited-map.ts";
import { sessionUpdate, userMessage, userMessageChunk } from "../../../wire/methods.ts";
import type { Notification } from "../../emission.ts";
import { type Amendment, notForwarded, toVerdict, untouched, type Verdict } from "../../messages/amend.ts";
import { blockText, isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import { InsertionFilter, restoreTitle } from "./inserted.ts";

/** The maximum number of sessions that are remembered. */
const limit = 64;

/** A prompt that is being replayed. */
interface Replay {
  readonly filter: InsertionFilter;
  messageId: unknown;
  /** The label of the last index of skills in the session's prompts. */
  label: string | undefined;
}

/** Removes inserted text from the prompts that agents replay to the editor. */
export class Replays {
  readonly #replays = new LimitedMap<string, Replay>(limit);
  readonly #notify: (message: Notification) => void;

  /** `notify` sends the editor the text that was held back. */
  constructor(notify: (message: Notification) => void) {
    this.#notify = notify;
  }

  /** Returns the verdict on a session's update that is a prompt. Undefined for any other update, which ends the prompt before it. */
  updated(sessionId: string, update: JsonRecord): Verdict | undefined {
    const kind = update["sessionUpdate"];
    if (kind === userMessageChunk) return this.#chunk(sessionId, update);
    const isWhole = kind === userMessage && Array.isArray(update["content"]);
    // The whole prompt includes the text that was held back of it.
    if (isWhole && this.#replays.get(sessionId)?.messageId === update["messageId"]) this.#take(sessionId);
    this.#endPrompt(sessionId);
    return isWhole ? this.#message(sessionId, update) : undefined;
  }

  /** Ends the prompt of a session, and forgets the session. Returns the label of the last index of skills in its prompts. */
  end(sessionId: string): string | undefined {
    this.#endPrompt(sessionId);
    const label = this.#replays.get(sessionId)?.label;
    this.forget(sessionId);
    return label;
  }

  /** Forgets a session, with the text that was held back. */
  forget(sessionId: string): void {
    this.#replays.delete(sessionId);
  }

  /** Removes inserted text from a chunk of a prompt. A chunk that is only inserted text, or may be its beginning, is not forwarded. */
  #chunk(sessionId: string, { content, messageId }: JsonRecord): Verdict {
    if (isOwnResource(content)) return notForwarded;
    const text = blockText(content);
    if (text === undefined || text === "") return untouched;
    const value = this.#replayOf(sessionId, messageId).filter.read(text);
    if (value === "") return notForwarded;
    return toVerdict(value === text ? [] : [{ path: ["params", "update", "content", "text"], value }]);
  }

  /** Removes inserted text from a whole prompt (ACP v2), which replaces the chunks that were shown before. */
  #message(sessionId: string, { content, messageId }: JsonRecord): Verdict {
    const blocks = content as readonly unknown[];
    const { filter } = this.#replayOf(sessionId, messageId);
    const shown: unknown[] = [];
    const showRest = (): void => {
      const text = filter.end();
      if (text !== "") shown.push({ type: "text", text });
    };
    for (const block of blocks) {
      const text = blockText(block);
      const value = text === undefined ? undefined : filter.read(text);
      if (value === undefined) showRest();
      if (value === text ? !isOwnResource(block) : value !== "")
        shown.push(value === text ? block : { ...(block as JsonRecord), text: value });
    }
    showRest();
    const isSame = shown.length === blocks.length && shown.every((block, index) => block === blocks[index]);
    return isSame ? untouched : toVerdict([{ path: ["params", "update", "content"], value: shown }]);
  }

  /** Sends the text of a prompt that was held back because it could have been the beginning of an insertion. */
  #endPrompt(sessionId: string): void {
    const messageId = this.#replays.get(sessionId)?.messageId;
    const text = this.#take(sessionId);
    if (text === "") return;
    const ofMessage = typeof messageId === "string" ? { messageId } : {};
    const update = { sessionUpdate: userMessageChunk, ...ofMessage, content: { type: "text", text } };
    this.#notify({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
  }

  /** Returns the text that was held back, and ends the prompt: the next chunk begins another one, even without an id. */
  #take(sessionId: string): string {
    const replay = this.#replays.get(sessionId);
    if (replay === undefined) return "";
    replay.messageId = Symbol("over");
    return replay.filter.end();
  }

  #replayOf(sessionId: string, messageId: unknown): Replay {
    const before = this.#replays.get(sessionId);
    if (before !== undefined && before.messageId === messageId) return before;
    const filter = new InsertionFilter((label) => void (replay.label = label));
    const replay: Replay = { filter, messageId, label: before?.label };
    this.#replays.delete(sessionId);
    this.#replays.set(sessionId, replay);
    return replay;
  }
}

function isOwnResource(content: unknown): boolean {
  const uri = recordAt(content, "resource")?.["uri"] ?? (isRecord(content) ? content["uri"] : undefined);
  return typeof uri === "string" && uri.startsWith("acp-skills:");
}

/** The maximum number of titles that are remembered. */
const titleLimit = 1_024;

/** Removes inserted text from the titles of sessions that agents make from prompts, but not from titles that the user sets. */
export class Titles {
  readonly #setByUser = new LimitedMap<string, true>(titleLimit);

  /** Remembers a title that the user set, or that the agent stored for the user. */
  setByUser(title: unknown): void {
    if (typeof title === "string") this.#setByUser.set(toComparable(title), true);
  }

  /** Restores the titles in a list of sessions. */
  restoreList(result: unknown): Amendment[] {
    const sessions = isRecord(result) && Array.isArray(result["sessions"]) ? (result["sessions"] as unknown[]) : [];
    return sessions.flatMap((session, index) => [
      ...this.restoreAt(session, "title", ["result", "sessions", index]),
      ...this.restoreAt(recordAt(session, "_meta"), "preview", ["result", "sessions", index, "_meta"]),
    ]);
  }

  /** Restores the title in field `key` of the object at a path. */
  restoreAt(holder: unknown, key: string, path: readonly (string | number)[]): Amendment[] {
    const title = isRecord(holder) ? holder[key] : undefined;
    if (typeof title !== "string") return [];
    const value = restoreTitle(title);
    return value === title || this.#isSetByUser(title) ? [] : [{ path: [...path, key], value }];
  }

  #isSetByUser(title: string): boolean {
    const stored = toComparable(title);
    return [...this.#setByUser.keys()].some((set) => set.startsWith(stored));
  }
}

/** Trims a title and removes its ellipsis, because agents may trim and truncate a title before they store it. */
function toComparable(title: string): string {
  return title
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?:…|\.{3})$/, "");
}
