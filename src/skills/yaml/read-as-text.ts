import type { Fault } from "./yaml.ts";

/** An invalid YAML value, read as the text that a person would see. */
export interface TextReading {
  readonly value: string;
  readonly fault: Fault;
  /** Valid YAML for that value; undefined if the text is ambiguous. */
  readonly written: string | undefined;
}

/**
 * Reads the raw text after a key, which starts at `offset`, as the most likely text. Undefined if the value is not text on the line of
 * the key, such as a nested value or an anchor.
 */
export function readAsText(key: string, raw: string, offset: number): TextReading | undefined {
  const first = raw.trimStart().charAt(0);
  const lines = raw.split(/\r\n|\n|\r/);
  if (lines[0]?.trim() === "" || first === "&") return undefined;
  const toReading = (value: string, plain: string, message: string, fix: string): TextReading => ({
    value: value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ""),
    written: mayHoldKey.test(raw) ? undefined : quoted(value, plain),
    fault: { code: "yaml-syntax", offset, end: offset + raw.trimEnd().length, message, fix },
  });
  if (first === "|" || first === ">") {
    const value = belowIndicator(lines);
    if (value === undefined) return undefined;
    const fix = `Start the text on the next line, indented, or remove the \`${first}\` and quote the value.`;
    return toReading(value, raw, `text after the block indicator \`${first}\` of \`${key}\``, fix);
  }
  if (first === '"' || first === "'") {
    const value = foldLines(lines);
    const unopened = raw.replace(/["']/, "");
    const inner = insideQuotes(value);
    if (inner !== undefined) {
      const fix = inSingleQuotes(inner, "instead of the outer quotes");
      return toReading(
        inner,
        unopened.replace(/["'](?=\s*$)/, ""),
        `unescaped \`${first}\` inside quoted \`${key}\``,
        fix,
      );
    }
    return value.indexOf(first, 1) > 0
      ? toReading(value, raw, `text after the closing quote of \`${key}\``, inSingleQuotes(value))
      : toReading(value.slice(1), unopened, `missing closing quote of \`${key}\``, "Add the closing quote.");
  }
  const value = foldLines(lines.filter((line) => !line.trimStart().startsWith("#")));
  const colon = raw.search(/:(?=[ \t\r\n]|$)/);
  const isIndicator = /^\s*(?:[@`%[\]{},*]|[-?](?:[ \t]|$))/.test(raw);
  if (isIndicator || colon < 0) {
    const message = isIndicator
      ? `an unquoted value cannot start with \`${first}\`; quote the value`
      : `\`${key}\` is not valid YAML; it is read as text`;
    return toReading(value, raw, message, inSingleQuotes(value));
  }
  const reading = toReading(value, raw, "`: ` inside an unquoted value; quote the value", "");
  const fault: Fault = {
    ...reading.fault,
    code: "yaml-unquoted-colon",
    offset: offset + colon,
    end: offset + colon + (/[ \t]/.test(raw.charAt(colon + 1)) ? 2 : 1),
    fix: inSingleQuotes(value, `or write it below \`${key}: >-\`, indented`),
  };
  return { ...reading, fault };
}

/** A line of an unquoted value that may be a separate key makes the value ambiguous. */
const mayHoldKey = /^[^"'|>][^]*\n[ \t]*[a-z][\w-]*:(?:[ \t\r\n]|$)/;

function inSingleQuotes(text: string, rest?: string): string {
  const doubled = text.includes("'") ? ", with each ' doubled" : "";
  return `Put the whole value in single quotes${doubled}${rest === undefined ? "" : `, ${rest}`}.`;
}

/** Quotes a value in single quotes, keeping its line breaks if they fold to it; else on one line, or as a block scalar. */
function quoted(value: string, plain: string): string | undefined {
  const text = plain.trim();
  const before = plain.slice(0, plain.length - plain.trimStart().length);
  const after = plain.slice(before.length + text.length);
  const lines = text.split(/\r\n|\n|\r/);
  const hasComment = lines.some((line) => line.trimStart().startsWith("#"));
  if (foldLines(lines) === value) return `${before}'${text.replaceAll("'", "''")}'${after}`;
  if (hasComment) return undefined;
  if (!value.includes("\n")) return `'${value.replaceAll("'", "''")}'${after}`;
  const lineBreak = plain.includes("\r\n") ? "\r\n" : "\n";
  return ["|-", ...value.split("\n").map((line) => (line === "" ? line : `  ${line}`))].join(lineBreak) + after;
}

/** The text of `| text` and the lines after it: as lines, or folded for `>`. Undefined if there is no text after the indicator. */
function belowIndicator([header = "", ...below]: readonly string[]): string | undefined {
  const text = header.replace(/^\s*[|>][-+0-9]*/, "").trim();
  if (text === "" || text.startsWith("#")) return undefined;
  if (header.trimStart().startsWith(">")) return foldLines([text, ...below]);
  const indents = below.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = indents.reduce((least, blanks) => Math.min(least, blanks), Infinity);
  return [text, ...below.map((line) => line.slice(Math.min(indent, line.length)).trimEnd())].join("\n").trimEnd();
}

/** Folds lines like a YAML plain scalar: a line break becomes a space, an empty line becomes a line break. */
function foldLines(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join("\n")
    .trim()
    .replace(/\n+/g, (breaks) => (breaks.length === 1 ? " " : breaks.slice(1)));
}

/** Returns `Use "x" now` for `"Use "x" now"`; undefined if the outer quotes are not a pair, as in `"x" and "y"`. */
function insideQuotes(text: string): string | undefined {
  const quote = text.charAt(0);
  if (text.length < 2 || !text.endsWith(quote)) return undefined;
  const inner = text.slice(1, -1);
  // Escaped quotes and apostrophes are not delimiters.
  const marks = inner.replace(quote === "'" ? /''|(?<=[^\s([{])'(?=[^\s([{])/g : /\\"/g, "xx");
  const [firstMark, lastMark] = [marks.indexOf(quote), marks.lastIndexOf(quote)];
  const closes = (at: number): boolean => /[^\s([{]/.test(marks.charAt(at - 1)) || /^\s?$/.test(marks.charAt(at + 1));
  if (firstMark >= 0 && closes(firstMark) && !closes(lastMark)) return undefined;
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, "$1");
}
