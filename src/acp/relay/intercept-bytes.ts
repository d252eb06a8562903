import { isUtf8 } from "node:buffer";
import { parseIfJson } from "../../base/json/json-value.ts";
import { createOnceLog } from "../../base/log.ts";
import type { Settings } from "../../runtime/options.ts";
import { Interceptor } from "./interceptor.ts";
import type { SkillService } from "../skill-service.ts";
import { amendLine } from "./amend-line.ts";
import type { Verdict } from "../messages/amend.ts";
import { encodeMessage } from "../emission.ts";
import { type FindTexts, type Interest, createTextFinder } from "./interest.ts";
import type { Flush, PassLines } from "./relay-lines.ts";

/** An interceptor for newline-delimited JSON. It takes blocks of whole lines and returns the bytes to write. */
export interface ByteInterceptor {
  readonly passFromEditor: PassLines;
  readonly passFromAgent: PassLines;
  /** Called when the editor has closed its end. */
  readonly editorLeft: () => void;
  /** Closes the interceptor, which then sends nothing. */
  readonly close: () => void;
}

/** The functions that write a whole line, after the lines that were written before. */
export interface LineSinks {
  /** Writes a line to the editor. `written` is called when the line was written, or never will be. */
  readonly toEditor: (line: Uint8Array, written: () => void) => void;
  readonly toAgent: (line: Buffer) => void;
  /** The total time, in milliseconds, for which this thread has waited for the rest of lines that had begun. */
  readonly waitedInLines?: () => number;
}

export function interceptBytes(
  service: SkillService,
  settings: Settings,
  { toEditor, toAgent, ...more }: LineSinks,
): ByteInterceptor {
  const interceptor = new Interceptor({
    service,
    settings,
    send: toEditor,
    ...more,
    reply: (message: object) => toAgent(encodeMessage(message)),
  });
  const { logOnce } = createOnceLog(settings.log);
  /** Only lines that are parsed anyway are reported if they are invalid. */
  const toDirection = (from: Direction["from"], intercept: Direction["intercept"]): Direction => ({
    from,
    interests: interceptor.interests,
    intercept,
    garbage(line) {
      const excerpt = JSON.stringify(line.trim().slice(0, 80));
      const message = `The ${from} wrote a line that is not JSON; it was forwarded unchanged: ${excerpt}`;
      logOnce("warning", message, `garbage of the ${from}`);
    },
    fault(error) {
      const message = `A message could not be amended and was forwarded unchanged: ${String(error)}`;
      logOnce("error", message, `fault in a message of the ${from}`);
    },
  });
  const fromEditor = toDirection("editor", (message) => interceptor.fromEditor(message));
  const fromAgent = toDirection("agent", (message) => interceptor.fromAgent(message));
  return {
    passFromEditor: (block, flush) => passFrom(block, 0, fromEditor, flush),
    passFromAgent: (block, flush) => passFrom(block, 0, fromAgent, flush),
    editorLeft: () => interceptor.editorLeft(),
    close: () => interceptor.close(),
  };
}

/** One direction of an interceptor, with the callbacks for its lines. */
interface Direction {
  readonly from: "editor" | "agent";
  readonly interests: Interceptor["interests"];
  readonly intercept: (message: unknown) => Verdict | Promise<Verdict>;
  /** Called for a line that is not JSON. */
  readonly garbage: (line: string) => void;
  /** Called for an amendment that failed. The line is then forwarded unchanged. */
  readonly fault: (error: unknown) => void;
}

/**
 * Filters a block of whole lines, from index `start` on. Returns the bytes to write after the flushed ones; a promise only if a verdict is
 * one. Lines that cannot concern acp-skills are not parsed and stay unchanged.
 */
function passFrom(block: Buffer, start: number, direction: Direction, flush: Flush): Buffer[] | Promise<Buffer[]> {
  const passed: Buffer[] = [];
  let copied = start;
  let line = nextLine(block, start, direction.interests[direction.from]);
  while (line !== undefined) {
    const { from, to } = line;
    const replacement = passLine(block.subarray(from, to), direction);
    if (replacement instanceof Promise) {
      flush([...passed, block.subarray(copied, from)].filter((piece) => piece.length > 0));
      return replacement.then((bytes) => {
        flush([bytes ?? block.subarray(from, to)]);
        return passFrom(block, to, direction, flush);
      });
    }
    if (replacement !== undefined) {
      passed.push(block.subarray(copied, from), replacement);
      copied = to;
    }
    line = nextLine(block, to, direction.interests[direction.from]);
  }
  passed.push(copied === 0 ? block : block.subarray(copied));
  return passed.length === 1 ? passed : passed.filter((piece) => piece.length > 0);
}

/** Returns the bytes that replace a line, empty if it is not forwarded; undefined if it is unchanged. */
function passLine(line: Buffer, direction: Direction): Buffer | undefined | Promise<Buffer | undefined> {
  const text = line.toString();
  const message = parseLine(line, text, direction);
  if (message === undefined) return undefined;
  const verdict = direction.intercept(message);
  return verdict instanceof Promise
    ? verdict.then((resolved) => apply(resolved, line, direction))
    : apply(verdict, line, direction);
}

function apply(verdict: Verdict, line: Buffer, direction: Direction): Buffer | undefined {
  if (!verdict.forward) return Buffer.alloc(0);
  const { amendments = [] } = verdict;
  if (amendments.length === 0) return undefined;
  try {
    return amendLine(line, amendments);
  } catch (error) {
    direction.fault(error);
    return undefined;
  }
}

function parseLine(line: Buffer, text: string, { garbage }: Direction): unknown {
  if (text.trim() === "") return undefined;
  const message = isUtf8(line) ? parseIfJson(text) : undefined;
  if (message === undefined) garbage(text);
  return message;
}

const newline = 10;

/** Finds the first line, from index `start` on, that may concern acp-skills. */
function nextLine(block: Buffer, start: number, interest: Interest) {
  if (start >= block.length) return undefined;
  const found = interest === "everything" ? start : firstOf(block, start, interest);
  if (found === -1) return undefined;
  const end = block.indexOf(newline, found);
  return { from: found === start ? start : lineStart(block, found, start), to: end === -1 ? block.length : end + 1 };
}

function lineStart(block: Buffer, inside: number, start: number): number {
  return Math.max(block.lastIndexOf(newline, inside) + 1, start);
}

/** The finder of each list of texts. There are only a few constant lists. */
const finders = new WeakMap<readonly string[], FindTexts>();

function firstOf(block: Buffer, start: number, texts: readonly string[]): number {
  const find = finders.get(texts) ?? createTextFinder(texts);
  finders.set(texts, find);
  return find(block, start);
}
