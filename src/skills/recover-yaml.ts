import type { Fault, YamlAttempt, YamlReading } from "./yaml.ts";
import { splitYamlBlocks } from "./yaml-blocks.ts";
import type { YamlBlock } from "./yaml-blocks.ts";

type Load = (text: string) => YamlAttempt;
type Failure = Extract<YamlAttempt, { reason: string }>;

/**
 * Reads a mapping whose YAML is broken key by key (C-1.5): a key that can be read is kept, one whose text is plain to a
 * person is taken as that text, and any other is dropped. Each of the latter two is a fault; so there is at least one.
 */
export function recoverYaml(text: string, whole: Failure, load: Load): YamlReading {
  const values: Record<string, unknown> = {};
  const faults: Fault[] = [];
  if (whole.aliases) faults.push(toFault(whole, 0));
  for (const block of splitYamlBlocks(text)) {
    const { key } = block;
    if (key === undefined) {
      faults.push(strayLine(text, block));
    } else if (Object.hasOwn(values, key)) {
      faults.push({
        code: "yaml-duplicate-key",
        offset: block.start,
        message: `the key ${key} appears again; the first one counts`,
        fix: `Remove one of the two ${key} keys.`,
      });
    } else {
      readBlock(text, block, key, { values, faults, load, withoutAliases: whole.aliases });
    }
  }
  if (faults.length === 0) faults.push(toFault(whole, 0));
  return { values, faults };
}

function readBlock(
  text: string,
  block: YamlBlock,
  key: string,
  into: { values: Record<string, unknown>; faults: Fault[]; load: Load; withoutAliases: boolean },
): void {
  const { values, faults, load } = into;
  let source = text.slice(block.start, block.end);
  let attempt = load(source);
  for (let repeats = 0; repeats < 20 && "reason" in attempt && /duplicated/.test(attempt.reason); repeats++) {
    faults.push(toFault(attempt, block.start));
    source = withoutLine(source, attempt.offset);
    attempt = load(source);
  }
  if (!("reason" in attempt)) {
    take(values, key, ownValue(attempt.values, key));
    return;
  }
  if (into.withoutAliases && (attempt.aliases || attempt.reason.startsWith("unidentified alias"))) return;
  const untabbed = source.replace(/^[ \t]*\t[ \t]*/gm, (indent) => indent.replaceAll("\t", "  "));
  const retried = untabbed === source ? attempt : load(untabbed);
  if (!("reason" in retried)) {
    faults.push(toFault({ ...attempt, offset: source.search(/^[ ]*\t/m), reason: "tab" }, block.start));
    take(values, key, ownValue(retried.values, key));
    return;
  }
  const recovered = attempt.aliases || /tag /.test(attempt.reason) ? undefined : plainText(text, block);
  if (recovered === undefined) {
    faults.push(toFault({ ...attempt, offset: Math.min(attempt.offset, source.trimEnd().length) }, block.start));
    return;
  }
  faults.push(recovered.fault);
  take(values, key, recovered.text);
}

function take(values: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
}

function ownValue(mapping: unknown, key: string): unknown {
  return typeof mapping === "object" && mapping !== null && Object.hasOwn(mapping, key)
    ? (mapping as Record<string, unknown>)[key]
    : undefined;
}

/** The value as a person reads it, where it stands as text beside its key. */
function plainText(text: string, { key, value, end }: YamlBlock): { text: string; fault: Fault } | undefined {
  const raw = text.slice(value, end);
  const lines = raw.split(/\r\n|\n|\r/).map((line) => line.trim());
  const first = lines[0] ?? "";
  if (first === "" || /^[|>&]/.test(first)) return undefined;
  const folded = foldLines(lines);
  const colon = /:(?=[ \t]|[\r\n]|$)/.exec(raw);
  const quote = /^["']/.exec(first)?.[0];
  if (quote !== undefined) {
    const closed = folded.length > 1 && folded.indexOf(quote, 1) > 0;
    return {
      text: readable(closed ? folded : folded.slice(1)),
      fault: {
        code: "yaml-syntax",
        offset: value,
        message: closed
          ? `the value of ${key ?? ""} goes on after its closing quote`
          : `the quote that opens ${key ?? ""} is never closed`,
        fix: closed
          ? "Put the whole value in quotes and double the quotes inside it."
          : "Close the quote at the end of the value.",
      },
    };
  }
  if (/^[@`%[\]{},*]|^[-?](?:[ \t]|$)/.test(first) || colon === null) {
    return {
      text: readable(folded),
      fault: {
        code: "yaml-syntax",
        offset: value,
        message: `the value of ${key ?? ""} is not valid YAML; it is taken as text`,
        fix: "Put the value in single quotes.",
      },
    };
  }
  return {
    text: readable(folded),
    fault: {
      code: "yaml-unquoted-colon",
      offset: value + colon.index,
      message: `the value of ${key ?? ""} contains a colon followed by a blank, which YAML takes for another key`,
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

function withoutLine(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const feed = text.indexOf("\n", offset);
  return (
    text.slice(0, start) + "#".repeat((feed < 0 ? text.length : feed) - start) + (feed < 0 ? "" : text.slice(feed))
  );
}

function strayLine(text: string, block: YamlBlock): Fault {
  const line = text.slice(block.start, block.end).split(/\r?\n/, 1)[0] ?? "";
  return {
    code: "yaml-syntax",
    offset: block.start,
    message: /^\t/.test(line)
      ? "a tab stands where only blanks may indent"
      : "the line is neither of the form key: value nor indented below a key",
    fix: "Indent it with blanks if it goes on from the line above, or give it a key.",
  };
}

function toFault(failure: Failure, base: number): Fault {
  const offset = base + Math.max(failure.offset, 0);
  const { reason } = failure;
  if (failure.aliases) {
    return {
      code: "yaml-alias-bomb",
      offset,
      message: "the frontmatter has more YAML aliases than a reader should follow",
      fix: "Write the values out instead of using aliases.",
    };
  }
  if (/^unknown .*tag/.test(reason) || /tag /.test(reason)) {
    return {
      code: "yaml-tag",
      offset,
      message: `a YAML tag is refused (${reason})`,
      fix: "Remove the tag, or put the value in quotes.",
    };
  }
  if (/duplicated/.test(reason)) {
    return {
      code: "yaml-duplicate-key",
      offset,
      message: "a key appears twice; the first one counts",
      fix: "Remove one of the two.",
    };
  }
  if (reason === "tab" || /tab characters/.test(reason)) {
    return {
      code: "yaml-syntax",
      offset,
      message: "a tab stands where only blanks may indent",
      fix: "Indent with blanks.",
    };
  }
  return {
    code: "yaml-syntax",
    offset,
    message: `not valid YAML: ${reason}`,
    fix: "Put the value in single quotes, or check its indentation.",
  };
}
