import { LimitedMap } from "../../base/limited-map.ts";
import type { Amendment } from "../bytes/amend.ts";
import { openRetelling, restoreTitle, type Retelling } from "./inserted.ts";
import { isRecord, type JsonRecord, recordAt } from "../bytes/raw-message.ts";

/** How a chunk of a replayed prompt is forwarded. */
type ToldAgain =
  /** Not forwarded: it is our text, or is held back until the next chunk. */
  { readonly shown: false } | { readonly shown: true; readonly amendments: readonly Amendment[] };

/** The prompts that agents replay to the editor, from which our text is removed. */
export interface PromptsToldAgain {
  /** A chunk of a prompt. */
  chunk(sessionId: string, update: JsonRecord): ToldAgain;
  /** Another update of the session ends the prompt. Returns what was held back. */
  other(sessionId: string): string;
  /** Removes and returns the label of the last lesson in a session's prompts. */
  takeLesson(sessionId: string): string | undefined;
  end(sessionId: string): void;
}

/** How many sessions are remembered. */
const limit = 64;

interface Entry {
  retelling: Retelling;
  messageId: unknown;
  lesson: string | undefined;
}

export function openPromptsToldAgain(): PromptsToldAgain {
  const entries = new LimitedMap<string, Entry>(limit);

  function entryOf(sessionId: string, messageId: unknown): Entry {
    const before = entries.get(sessionId);
    if (before !== undefined && before.messageId === messageId) return before;
    const entry: Entry = { lesson: before?.lesson, messageId, retelling: openRetelling(hear) };
    function hear(label: string): void {
      entry.lesson = label;
    }
    entries.delete(sessionId);
    entries.set(sessionId, entry);
    return entry;
  }

  return {
    chunk(sessionId, update) {
      const { content, messageId } = update;
      if (isOwnResource(content)) return { shown: false };
      const text = isRecord(content) && content["type"] === "text" ? content["text"] : undefined;
      if (typeof text !== "string") return { shown: true, amendments: [] };
      const shown = entryOf(sessionId, messageId).retelling.read(text);
      if (shown === text) return { shown: true, amendments: [] };
      if (shown === "") return { shown: false };
      return { shown: true, amendments: [{ path: ["params", "update", "content", "text"], value: shown }] };
    },
    other(sessionId) {
      const entry = entries.get(sessionId);
      if (entry === undefined) return "";
      // The next chunk begins another prompt, even without an id.
      entry.messageId = Symbol("over");
      return entry.retelling.end();
    },
    takeLesson(sessionId) {
      const lesson = entries.get(sessionId)?.lesson;
      entries.delete(sessionId);
      return lesson;
    },
    end(sessionId) {
      entries.delete(sessionId);
    },
  };
}

function isOwnResource(content: unknown): boolean {
  const uri = recordAt(content, "resource")?.["uri"] ?? (isRecord(content) ? content["uri"] : undefined);
  return typeof uri === "string" && uri.startsWith("acp-skills:");
}

/** Restores the titles in a list of sessions. */
export function restoreSessionTitles(result: unknown): Amendment[] {
  const sessions = isRecord(result) && Array.isArray(result["sessions"]) ? (result["sessions"] as unknown[]) : [];
  return sessions.flatMap((session, index) => [
    ...restoreAt(session, "title", ["result", "sessions", index]),
    ...restoreAt(recordAt(session, "_meta"), "preview", ["result", "sessions", index, "_meta"]),
  ]);
}

/** Restores the title in an update. */
export function restoreTitleTold(update: JsonRecord): Amendment[] {
  return restoreAt(update, "title", ["params", "update"]);
}

function restoreAt(holder: unknown, key: string, path: readonly (string | number)[]): Amendment[] {
  const title = isRecord(holder) ? holder[key] : undefined;
  if (typeof title !== "string") return [];
  const value = restoreTitle(title);
  return value === title ? [] : [{ path: [...path, key], value }];
}
