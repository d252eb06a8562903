import { LimitedMap } from "../../../base/limited-map.ts";
import { type Amendment, notForwarded, toVerdict, untouched, type Verdict } from "../../messages/amend.ts";
import { isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import { InsertionFilter, restoreTitle } from "./inserted.ts";

/** How many sessions are remembered. */
const limit = 64;

/** A prompt that is being replayed. */
interface Replay {
  readonly filter: InsertionFilter;
  messageId: unknown;
  /** The label of the last index of skills in the session's prompts. */
  label: string | undefined;
}

/** The prompts that agents replay to the editor, from which our text is removed. */
export class Replays {
  readonly #replays = new LimitedMap<string, Replay>(limit);

  /** Removes our text from a chunk of a prompt. A chunk of only our text, or that may be its beginning, is not forwarded. */
  chunk(sessionId: string, { content, messageId }: JsonRecord): Verdict {
    if (isOwnResource(content)) return notForwarded;
    const text = isRecord(content) && content["type"] === "text" ? content["text"] : undefined;
    if (typeof text !== "string" || text === "") return untouched;
    const value = this.#replayOf(sessionId, messageId).filter.read(text);
    if (value === "") return notForwarded;
    return toVerdict(value === text ? [] : [{ path: ["params", "update", "content", "text"], value }]);
  }

  /** Another update of the session ends the prompt. Returns what was held back. */
  endPrompt(sessionId: string): string {
    const replay = this.#replays.get(sessionId);
    if (replay === undefined) return "";
    // The next chunk begins another prompt, even without an id.
    replay.messageId = Symbol("over");
    return replay.filter.end();
  }

  /** Forgets a session; returns the label of the last index of skills in its prompts. */
  end(sessionId: string): string | undefined {
    const label = this.#replays.get(sessionId)?.label;
    this.#replays.delete(sessionId);
    return label;
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

/** How many titles are remembered. */
const titleLimit = 1_024;

/** The titles of sessions: our text is removed from those that agents make of prompts, not from those that the user sets. */
export class Titles {
  readonly #setByUser = new LimitedMap<string, true>(titleLimit);

  /** The user set this title, or the agent stored it so. */
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

  /** Restores a title, in what stands at a path. */
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

/** Agents may trim and truncate a title before they store it. */
function toComparable(title: string): string {
  return title
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?:…|\.{3})$/, "");
}
