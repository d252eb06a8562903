import type { Amendment } from "../bytes/amend.ts";
import { openRetelling, restoreTitle, type Retelling } from "./inserted.ts";
import { isRecord, type JsonRecord, recordAt } from "../bytes/raw-message.ts";

/** What becomes of a chunk of a prompt that an agent tells again. */
type ToldAgain =
  /** All of it is ours, or waits for the next chunk. */
  { readonly shown: false } | { readonly shown: true; readonly amendments: readonly Amendment[] };

/** The prompts that a connection's sessions are told again, each from its first chunk to what follows its last. */
export interface PromptsToldAgain {
  /** A chunk of a prompt: `params` of a session/update. */
  chunk(sessionId: string, update: JsonRecord): ToldAgain;
  /** Another update of the session: the prompt is over. Returns what was held back of it. */
  other(sessionId: string): string;
  /** The label of the last lesson in a session's prompts; it is forgotten. */
  takeLesson(sessionId: string): string | undefined;
  end(sessionId: string): void;
}

/** So many sessions are remembered, whether or not they are ever opened. */
const limit = 64;

interface Entry {
  retelling: Retelling;
  messageId: unknown;
  lesson: string | undefined;
}

export function openPromptsToldAgain(): PromptsToldAgain {
  const entries = new Map<string, Entry>();

  function entryOf(sessionId: string, messageId: unknown): Entry {
    const before = entries.get(sessionId);
    if (before !== undefined && before.messageId === messageId) return before;
    const entry: Entry = { lesson: before?.lesson, messageId, retelling: openRetelling(hear) };
    function hear(label: string): void {
      entry.lesson = label;
    }
    entries.delete(sessionId);
    entries.set(sessionId, entry);
    const [oldest] = entries.keys();
    if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
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
      // The next chunk begins another prompt, even under no id.
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

/** Amends a list of sessions so that titles say what people typed. */
export function restoreSessionTitles(result: unknown): Amendment[] {
  const sessions = isRecord(result) && Array.isArray(result["sessions"]) ? (result["sessions"] as unknown[]) : [];
  return sessions.flatMap((session, index) => [
    ...restoreAt(session, "title", ["result", "sessions", index]),
    ...restoreAt(recordAt(session, "_meta"), "preview", ["result", "sessions", index, "_meta"]),
  ]);
}

/** The same for an update that tells a session's title. */
export function restoreTitleTold(update: JsonRecord): Amendment[] {
  return restoreAt(update, "title", ["params", "update"]);
}

function restoreAt(holder: unknown, key: string, path: readonly (string | number)[]): Amendment[] {
  const title = isRecord(holder) ? holder[key] : undefined;
  if (typeof title !== "string") return [];
  const value = restoreTitle(title);
  return value === title ? [] : [{ path: [...path, key], value }];
}
