import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../base/json/json-value.ts";
import { inDigits } from "../../../base/text/code-points.ts";
import { maxKeys } from "./plain-yaml.ts";
import { type YamlBlock, fieldLine, isBlankOrComment, nextLine, splitYamlBlocks } from "./yaml-keys.ts";
import type { YamlFault, Mend, YamlAttempt, YamlFailure, YamlReading } from "../yaml.ts";

type Load = (text: string, json?: boolean) => YamlAttempt;
type KeyBlock = YamlBlock & { readonly key: string };

/** The result of reading the lines of one key, valid YAML or not. */
interface ReadBlock {
  /** The block as a mapping; undefined if its value cannot be read. */
  readonly values?: unknown;
  readonly faults: readonly YamlFault[];
  /** Valid YAML with the same values; undefined if the block is already valid, or ambiguous. */
  readonly text?: string | undefined;
}

/**
 * Reads a mapping key by key if it cannot be read as a whole. Reads valid keys, reads values that are obviously text as text, and drops
 * other keys. Values read as text and dropped keys are faults. So there is at least one fault, unless the mapping was only too long to
 * parse.
 */
export function recoverYaml(text: string, whole: YamlFailure, load: Load): Omit<YamlReading, "isClean"> {
  const isBomb = whole.cause === "aliases";
  const values: Record<string, unknown> = {};
  const faults: YamlFault[] = isBomb ? [toFault(whole, 0)] : [];
  const mends: Mend[] = [];
  for (const [index, block] of splitYamlBlocks(text, maxKeys + 1).entries()) {
    const { start, key, indent } = block;
    if (index === maxKeys) {
      const message = `the frontmatter has more than ${inDigits(maxKeys)} keys; the rest are skipped`;
      faults.push(
        syntax(start, 0, message, "Put your own keys under `metadata:`, or move the text below the frontmatter."),
      );
      break;
    }
    if (key === undefined) {
      faults.push(strayLine(text, start));
      continue;
    }
    const range = { start, end: valueEnd(text, block) };
    const read = readBlock(text, { ...block, key, end: range.end }, load, isBomb);
    const value = isObject(read.values) && Object.hasOwn(read.values, key) ? read.values[key] : undefined;
    if (Object.hasOwn(values, key)) {
      const message = `duplicate key \`${key}\`; the first one is used`;
      const fault = syntax(start + indent, key.length, message, "Remove one of the two.");
      faults.push({ ...fault, code: "yaml-duplicate-key" });
      if (read.faults.length === 0 && isDeepStrictEqual(value, values[key])) mends.push({ ...range, text: "" });
      continue;
    }
    if (read.text !== undefined) mends.push({ ...range, text: read.text });
    faults.push(...read.faults);
    if (read.values !== undefined) {
      Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  if (faults.length === 0 && whole.cause !== "length") faults.push(toFault(whole, 0));
  return { values, faults, mends };
}

/** Reads the lines of one key: unchanged, else with a common mistake corrected, else as plain text. */
function readBlock(text: string, block: KeyBlock, load: Load, isBomb: boolean): ReadBlock {
  const { key, start, indent, value, end } = block;
  const base = start + indent;
  const source = text.slice(base, end);
  const isIndented = `\`${key}\` is indented, so YAML reads it as part of the line above`;
  const indented = indent === 0 ? [] : [syntax(base, key.length, isIndented, `Remove the spaces before \`${key}\`.`)];
  const attempt = load(source);
  if ("values" in attempt) return { ...attempt, faults: indented, text: indent === 0 ? undefined : source };
  const { cause, reason } = attempt;
  if (cause === "length") {
    const message = `\`${key}\` is skipped: more than 16 KiB of the frontmatter need a full YAML parser`;
    const fix = "Use plain or quoted strings, and move long text below the frontmatter.";
    return { faults: [...indented, { ...syntax(base, key.length, message, fix), lost: key }] };
  }
  if (isBomb && (cause === "aliases" || reason.startsWith("unidentified alias"))) return { faults: indented };
  const fault = toFault({ ...attempt, offset: Math.min(attempt.offset, source.trimEnd().length) }, base);
  if (fault.code === "yaml-duplicate-key") {
    const loaded = load(source, true);
    if ("values" in loaded) return { ...loaded, faults: [...indented, fault] };
  }
  if (fault.code === "yaml-syntax") {
    for (const rewrite of [indentLines, replaceTabs, escapeBackslashes, quoteValue]) {
      const written = rewrite(text.slice(value, end), key, value);
      if (written === undefined) continue;
      const corrected = text.slice(base, value) + written.text;
      const read = load(corrected);
      if ("reason" in read) continue;
      const isSure = written.isSure !== false && !(rewrite === quoteValue && mayCloseBelow(text, block));
      return { ...read, faults: [...indented, ...written.faults], text: isSure ? corrected : undefined };
    }
  }
  return { faults: [...indented, { ...fault, lost: key }] };
}

/** Another spelling of a value, which starts at `offset`. */
interface Rewritten {
  readonly text: string;
  readonly faults: readonly YamlFault[];
  /** False if the author may have intended another value. */
  readonly isSure?: boolean;
}

function indentLines(raw: string, key: string, offset: number): Rewritten | undefined {
  const found = /^["'][^]*?\n(?=\S)([^\r\n]*)/.exec(raw);
  if (found === null) return undefined;
  const [before, line = ""] = found;
  const message = `continuation line of \`${key}\` is not indented`;
  const at = offset + before.length - line.length;
  const fault = syntax(at, line.length, message, "Indent each continuation line by two spaces.");
  return { text: raw.replace(/\n(?=\S)/g, "\n  "), faults: [fault] };
}

function replaceTabs(raw: string, _key: string, offset: number): Rewritten | undefined {
  const tab = raw.search(/(?<=\n *)\t/);
  if (tab < 0) return undefined;
  const text = raw.replace(/(?<=\n)[ \t]+/g, (blanks) => blanks.replaceAll("\t", "  "));
  return { text, faults: [tabIndent(offset + tab)] };
}

/** Double-quoted strings where YAML allows them. */
const quotedText = /(?<=^|[:,[{-]\s*)"(?:[^"\\]|\\[^])*"/g;
const escapes = /\\(?:[0abtnvfre "/\\N_LP\t\r\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|([^]))/g;

function escapeBackslashes(raw: string, _key: string, offset: number): Rewritten | undefined {
  const faults: YamlFault[] = [];
  const text = raw.replace(quotedText, (quoted, at: number) =>
    quoted.replace(escapes, (escape: string, unknown: string | undefined, inner: number) => {
      if (unknown === undefined) return escape;
      const message = "unknown escape sequence in double quotes; the backslash is preserved";
      const fix = "Write two backslashes, or put the value in single quotes.";
      faults.push(syntax(offset + at + inner, escape.length, message, fix));
      return `\\${escape}`;
    }),
  );
  return faults.length === 0 ? undefined : { text, faults };
}

/** A line that makes an unquoted value ambiguous, because it may be a separate key or a comment. */
const ambiguousLine = /^[^"'|>][^]*\n[ \t]*(?:#|[a-z][\w-]*:(?:[ \t\r\n]|$))/;
/** The characters with which no unquoted value starts. */
const notPlain = /^(?:["'|>@`%[\]{},*]|[-?](?:[ \t]|$))/;

function quoteValue(raw: string, key: string, offset: number): Rewritten | undefined {
  const text = raw.trimEnd();
  if (/^(?:$|[&#]|\r?\n)/.test(raw)) return undefined;
  const content = /^[|>]/.test(text) ? undefined : contentOf(text);
  const written = content === undefined ? belowIndicator(text, raw) : inSingleQuotes(content);
  if (written === text) return undefined;
  const doubled = content?.includes("'") === true ? ", with each ' doubled" : "";
  const fix = `Put the whole value in single quotes${doubled}, or write it below \`${key}: >-\`, indented.`;
  const colon = notPlain.test(text) ? null : /:(?:[ \t]|(?=[\r\n]|$))/.exec(text);
  const fault: YamlFault =
    colon === null
      ? syntax(offset, text.length, `the value of \`${key}\` is not valid YAML; it is read as text`, fix)
      : {
          ...syntax(offset + colon.index, colon[0].length, "`: ` inside an unquoted value; quote the value", fix),
          code: "yaml-unquoted-colon",
        };
  return { text: written + raw.slice(text.length), faults: [fault], isSure: !ambiguousLine.test(text) };
}

/** Rewrites `| text`: moves the text to the line below the indicator. */
function belowIndicator(text: string, raw: string): string {
  const lineStart = `${raw.includes("\r\n") ? "\r" : ""}\n${/\n([ \t]+)\S/.exec(raw)?.[1] ?? "  "}`;
  return text.replace(/^([|>][-+]?)\d?[ \t]+(?=[^\s#])/, `$1${lineStart}`);
}

/** Outer quotes that are not a pair, as in `"x" and "y"`: the second quote closes, and the one before the last opens. */
const notPaired = /^(["'])(?:(?!\1)[^])*[^\s([{]\1(?!\w)[^]*[\s([{]\1\S(?:(?!\1)[^])*\1$/;

/** The content of a value, in quotes or not, as a reader would understand it. */
function contentOf(text: string): string {
  const first = text.charAt(0);
  if (first !== '"' && first !== "'") return text.replace(/\n[ \t]*#[^\n]*/g, "");
  if (text.length > 1 && text.endsWith(first) && !notPaired.test(text)) {
    const inner = text.slice(1, -1);
    return first === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, "$1");
  }
  // There is text after the closing quote, or no closing quote.
  return text.indexOf(first, 1) > 0 ? text : text.slice(1);
}

const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Puts a text in single quotes, indents its lines, and removes characters that YAML forbids. */
function inSingleQuotes(text: string): string {
  return `'${text
    .replace(forbidden, "")
    .replaceAll("'", "''")
    .replace(/\n(?=\S)/g, "\n  ")}'`;
}

/** The end of the last line that is neither blank nor a comment. In quoted and block scalars, such lines are text. */
function valueEnd(text: string, { value, end }: YamlBlock): number {
  if ("\"'|>".includes(text.charAt(value))) return end;
  let stop = nextLine(text, value);
  for (let line = stop; line < end; line = nextLine(text, line)) {
    if (!isBlankOrComment(text, line)) stop = nextLine(text, line);
  }
  return stop;
}

/** Whether the closing quote of a value may be below its block, before the next field. */
function mayCloseBelow(text: string, { value, end }: YamlBlock): boolean {
  const mark = text.charAt(value);
  const [below = ""] = text.slice(end - 1, end + 4096).split(fieldLine, 1);
  return (mark === '"' || mark === "'") && below.split(mark).length % 2 === 0;
}

/** Converts a parser error to a fault. `base` is the offset at which the parsed text starts. */
function toFault({ reason, cause, offset: inner }: YamlFailure, base: number): YamlFault {
  const offset = base + Math.max(inner, 0);
  if (cause === "aliases") {
    const message = "more than 10 YAML aliases, or one that refers to a value that contains it";
    return { code: "yaml-alias-bomb", offset, message, fix: "Write the values out instead of using aliases." };
  }
  if (reason.includes("tag ") || /^unknown .*tag/.test(reason)) {
    const fix = "Remove the tag, or put the value in quotes.";
    return { code: "yaml-tag", offset, message: `YAML tags are not allowed (${reason})`, fix };
  }
  if (reason.includes("duplicated")) {
    const message = "duplicate key; the last one is used";
    return { code: "yaml-duplicate-key", offset, message, fix: "Remove one of the two." };
  }
  if (reason.includes("tab characters")) return tabIndent(offset);
  const fix = "Put the value in single quotes, or check its indentation.";
  return { code: "yaml-syntax", offset, message: `invalid YAML: ${reason}`, fix };
}

function strayLine(text: string, offset: number): YamlFault {
  if (text[offset] === "\t") return tabIndent(offset);
  const fix = "Indent it with spaces if it continues the line above, or give it a key.";
  const length = text.slice(offset).search(/[\r\n]|$/);
  return syntax(offset, length, "line is neither `key: value` nor indented below a key", fix);
}

function tabIndent(offset: number): YamlFault {
  return syntax(offset, 0, "tab used for indentation", "Indent with spaces.");
}

function syntax(offset: number, length: number, message: string, fix: string): YamlFault {
  const range = length === 0 ? { offset } : { offset, end: offset + length };
  return { code: "yaml-syntax", ...range, message, fix };
}
