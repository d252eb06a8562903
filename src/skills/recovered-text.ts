import type { Fault } from "./yaml.ts";
import type { YamlBlock } from "./yaml-blocks.ts";

/** A value as a person reads it, where it stands as text beside its key although it is not YAML; and what is wrong with it. */
export function recoverText(text: string, block: YamlBlock): { text: string; fault: Fault } | undefined {
  const key = block.key ?? "";
  const raw = text.slice(block.value, block.end);
  const lines = raw.split(/\r\n|\n|\r/).map((line) => line.trim());
  const first = lines[0] ?? "";
  if (first === "" || /^[|>&]/.test(first)) return undefined;
  const folded = foldLines(lines);
  const fault = (message: string, fix: string): Fault => ({ code: "yaml-syntax", offset: block.value, message, fix });
  const quote = /^["']/.exec(first)?.[0];
  if (quote !== undefined) {
    return folded.indexOf(quote, 1) > 0
      ? {
          text: readable(folded),
          fault: fault(
            `the value of ${key} goes on after its closing quote`,
            "Put the whole value in quotes and double the quotes inside it.",
          ),
        }
      : {
          text: readable(folded.slice(1)),
          fault: fault(`the quote that opens ${key} is never closed`, "Close the quote at the end of the value."),
        };
  }
  const colon = /:(?=[ \t]|[\r\n]|$)/.exec(raw);
  if (/^[@`%[\]{},*]|^[-?](?:[ \t]|$)/.test(first) || colon === null) {
    return {
      text: readable(folded),
      fault: fault(`the value of ${key} is not valid YAML; it is taken as text`, "Put the value in single quotes."),
    };
  }
  return {
    text: readable(folded),
    fault: {
      code: "yaml-unquoted-colon",
      offset: block.value + colon.index,
      message: `the value of ${key} contains a colon followed by a blank, which YAML takes for another key`,
      fix: "Put the value in single quotes, or write it below the key after `>-`.",
    },
  };
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
