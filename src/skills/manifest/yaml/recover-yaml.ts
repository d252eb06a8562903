import { isDeepStrictEqual } from "node:util";
import { inDigits } from "../../../base/text/code-points.ts";
import { mostKeys } from "./plain-yaml.ts";
import { type YamlBlock, fieldLine, isBlankOrComment, nextLine, splitYamlBlocks } from "./yaml-keys.ts";
import type { YamlFault, Mend, YamlAttempt, YamlFailure, YamlReading } from "../yaml.ts";

type Load = (text: string, json?: boolean) => YamlAttempt;
type KeyBlock = YamlBlock & { readonly key: string };

/** The result of reading the lines of one key, valid YAML or not. */
interface ReadBlock {
  /** The block as a mapping; undefined if its value cannot be read. */
  readonly values?: unknown;
  readonly faults: readonly YamlFault[];
  /** Valid YAML with the same values; undefined if the block is valid already, or ambiguous. */
  readonly text?: string | undefined;
}

/**
 * Reads a mapping key by key if it cannot be read as a whole. Valid keys are read, values that are obviously text are read as
 * text, and other keys are dropped. Both of the latter are faults, so there is at least one unless the mapping was only too long to
 * parse.
 */
export function recoverYaml(text: string, whole: YamlFailure, load: Load): Omit<YamlReading, "isClean"> {
  const isBomb = whole.cause === "aliases";
  const values: Record<string, unknown> = {};
  const faults: YamlFault[] = isBomb ? [toFault(whole, 0)] : [];
  const mends: Mend[] = [];
  for (const [index, block] of splitYamlBlocks(text, mostKeys + 1).entries()) {
    const { start, key, indent } = block;
    if (index === mostKeys) {
      const message = `the frontmatter has more than ${inDigits(mostKeys)} keys; the rest are skipped`;
      faults.push(
        syntax(start, 0, message, "Put your own keys under `metadata:`, or move the text below the frontmatter."),
      );
      break;
    }
    if (key === undefined) {
      faults.push(strayLine(text, start));
      continue;
    }
    const place = { start, end: valueEnd(text, block) };
    const read = readBlock(text, { ...block, key, end: place.end }, load, isBomb);
    const value = isMapping(read.values) && Object.hasOwn(read.values, key) ? read.values[key] : undefined;
    if (Object.hasOwn(values, key)) {
      const message = `duplicate key \`${key}\`; the first one is used`;
      const fault = syntax(start + indent, key.length, message, "Remove one of the two.");
      faults.push({ ...fault, code: "yaml-duplicate-key" });
      if (read.faults.length === 0 && isDeepStrictEqual(value, values[key])) mends.push({ ...place, text: "" });
      continue;
    }
    if (read.text !== undefined) mends.push({ ...place, text: read.text });
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

/** Another way to write a value, which starts at `offset`. */
interface Rewritten {
  readonly text: string;
  readonly faults: readonly YamlFault[];
  /** False if the author may have meant something else. */
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

/** A value as a person would read it, in valid YAML. */
interface Quoted {
  readonly written: string;
  readonly message: string;
  readonly fix: string;
  /** The unquoted `: `. */
  readonly colon?: RegExpExecArray;
}

/** A line of an unquoted value that may be a separate key or a comment makes the value ambiguous. */
const ambiguousLine = /^[^"'|>][^]*\n[ \t]*(?:#|[a-z][\w-]*:(?:[ \t\r\n]|$))/;

function quoteValue(raw: string, key: string, offset: number): Rewritten | undefined {
  const text = raw.trimEnd();
  if (/^(?:$|[&#]|\r?\n)/.test(raw)) return undefined;
  const quoted = text.startsWith("|") || text.startsWith(">") ? moveBelow(text, raw) : quote(text, key);
  if (quoted === undefined) return undefined;
  const { written, message, fix, colon } = quoted;
  const fault = syntax(offset + (colon?.index ?? 0), (colon?.[0] ?? text).length, message, fix);
  const faults: YamlFault[] = [colon === undefined ? fault : { ...fault, code: "yaml-unquoted-colon" }];
  return { text: written + raw.slice(text.length), faults, isSure: !ambiguousLine.test(text) };
}

/** For `| text`: the text on the line below the indicator. */
function moveBelow(text: string, raw: string): Quoted | undefined {
  const indicator = text.charAt(0);
  const lineStart = `${raw.includes("\r\n") ? "\r" : ""}\n${/\n([ \t]+)\S/.exec(raw)?.[1] ?? "  "}`;
  const written = text.replace(/^([|>][-+]?)\d?[ \t]+(?=[^\s#])/, `$1${lineStart}`);
  if (written === text) return undefined;
  const fix = `Start the text on the next line, indented, or remove the \`${indicator}\` and quote the value.`;
  return { written, message: `text after the block indicator \`${indicator}\``, fix };
}

/** Outer quotes that are not a pair, as in `"x" and "y"`: the second quote closes, and the one before the last opens. */
const notPaired = /^(["'])(?:(?!\1)[^])*[^\s([{]\1(?!\w)[^]*[\s([{]\1\S(?:(?!\1)[^])*\1$/;

function quote(text: string, key: string): Quoted {
  const first = text.charAt(0);
  if (first !== '"' && first !== "'") return quotePlain(text, key);
  if (text.length > 1 && text.endsWith(first) && !notPaired.test(text)) {
    const inner = text.slice(1, -1);
    const content = first === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, "$1");
    const message = `unescaped \`${first}\` inside quoted \`${key}\``;
    return { written: inSingleQuotes(content), message, fix: quotingOf(content, ", instead of the outer quotes") };
  }
  if (text.indexOf(first, 1) > 0) {
    const message = `text after the closing quote of \`${key}\``;
    return { written: inSingleQuotes(text), message, fix: quotingOf(text) };
  }
  const message = `missing closing quote of \`${key}\``;
  return { written: inSingleQuotes(text.slice(1)), message, fix: "Add the closing quote." };
}

function quotePlain(text: string, key: string): Quoted {
  const plain = text.replace(/\n[ \t]*#[^\n]*/g, "");
  const written = inSingleQuotes(plain);
  if (/^(?:[@`%[\]{},*]|[-?](?:[ \t]|$))/.test(text)) {
    const message = `an unquoted value cannot start with \`${text.charAt(0)}\`; quote the value`;
    return { written, message, fix: quotingOf(plain) };
  }
  const colon = /:(?:[ \t]|(?=[\r\n]|$))/.exec(text);
  if (colon === null)
    return { written, message: `\`${key}\` is not valid YAML; it is read as text`, fix: quotingOf(plain) };
  const message = "`: ` inside an unquoted value; quote the value";
  return { written, message, fix: quotingOf(plain, `, or write it below \`${key}: >-\`, indented`), colon };
}

const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text in single quotes, without characters that YAML forbids, and with its lines indented. */
function inSingleQuotes(text: string): string {
  return `'${text
    .replace(forbidden, "")
    .replaceAll("'", "''")
    .replace(/\n(?=\S)/g, "\n  ")}'`;
}

function quotingOf(text: string, rest = ""): string {
  return `Put the whole value in single quotes${text.includes("'") ? ", with each ' doubled" : ""}${rest}.`;
}

/** End of the last line that is neither blank nor a comment. In quoted and block scalars, such lines are text. */
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
    const message = reason.startsWith("aliases exceeded")
      ? "too many YAML aliases; the limit is 10"
      : "a YAML alias refers to a value that contains it";
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

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
