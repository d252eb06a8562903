import { insideQuotes } from "./inside-quotes.ts";
import type { Fault } from "./yaml.ts";
import type { YamlBlock } from "./yaml-blocks.ts";

/** A value as a person reads it, where it stands as text beside its key although it is not YAML; and what is wrong with it. */
export function recoverText(text: string, block: YamlBlock): { text: string; fault: Fault } | undefined {
  const key = block.key ?? "";
  const raw = text.slice(block.value, block.end);
  const whole = raw.split(/\r\n|\n|\r/);
  const lines = whole.map((line) => line.trim());
  const first = lines[0] ?? "";
  if (first === "" || first.startsWith("&")) return undefined;
  const fault = (message: string, fix: string): Fault => ({ code: "yaml-syntax", offset: block.value, message, fix });
  if (/^[|>]/.test(first)) {
    const value = belowIndicator(whole);
    if (value === undefined) return undefined;
    const message = `text follows the ${first.charAt(0)} that should end the line of ${key}`;
    const fix = `Write the text on the next line, indented, or ${inQuotes(value).replace("Put", "put")} without the ${first.charAt(0)}.`;
    return { text: readable(value), fault: fault(message, fix) };
  }
  const quote = /^["']/.exec(first)?.[0];
  if (quote !== undefined) {
    const folded = foldLines(lines);
    const inner = insideQuotes(folded);
    if (inner !== undefined) {
      const message = `the value of ${key} has quotes inside its quotes`;
      return { text: readable(inner), fault: fault(message, `${inQuotes(inner)}, in place of the outer ones.`) };
    }
    return folded.indexOf(quote, 1) > 0
      ? {
          text: readable(folded),
          fault: fault(`the value of ${key} goes on after its closing quote`, `${inQuotes(folded)}.`),
        }
      : {
          text: readable(folded.slice(1)),
          fault: fault(`the quote that opens ${key} is never closed`, "Close the quote at the end of the value."),
        };
  }
  const folded = foldLines(lines.filter((line) => !line.startsWith("#")));
  const colon = /:(?=[ \t]|[\r\n]|$)/.exec(raw);
  if (/^[@`%[\]{},*]|^[-?](?:[ \t]|$)/.test(first) || colon === null) {
    const message = `the value of ${key} is not valid YAML; it is taken as text`;
    return { text: readable(folded), fault: fault(message, `${inQuotes(folded)}.`) };
  }
  return {
    text: readable(folded),
    fault: {
      code: "yaml-unquoted-colon",
      offset: block.value + colon.index,
      message: `the value of ${key} contains a colon followed by a blank, which YAML takes for another key`,
      fix: `${inQuotes(folded)}, or write it below the key after \`>-\`.`,
    },
  };
}

/** Advice that works when it is followed: the quotes that stand in a text are not forgotten. */
function inQuotes(text: string): string {
  return `Put the value in single quotes${text.includes("'") ? " and double each single quote in it" : ""}`;
}

/** The text of `| text`, and of the lines below it: kept as lines, or folded where the indicator is `>`. Undefined where there is none. */
function belowIndicator(lines: readonly string[]): string | undefined {
  const [header = "", ...below] = lines;
  const text = header
    .trim()
    .replace(/^[|>][-+0-9]*/, "")
    .trim();
  if (text === "" || text.startsWith("#")) return undefined;
  if (header.trimStart().startsWith(">")) return foldLines([text, ...below.map((line) => line.trim())]);
  const indents = below.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = indents.reduce((least, blanks) => Math.min(least, blanks), Infinity);
  return [text, ...below.map((line) => line.slice(Number.isFinite(indent) ? indent : 0).trimEnd())]
    .join("\n")
    .trimEnd();
}

/** Folds lines as YAML folds a plain scalar: a line break is a blank, an empty line is a line break. */
function foldLines(lines: readonly string[]): string {
  let folded = "";
  let empty = 0;
  for (const line of lines) {
    if (line === "") {
      empty++;
      continue;
    }
    folded += folded === "" ? line : (empty === 0 ? " " : "\n".repeat(empty)) + line;
    empty = 0;
  }
  return folded;
}

function readable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}
