import { isDeepStrictEqual } from "node:util";
import { inDigits } from "../text/code-points.ts";
import { mendBlock } from "./mend-block.ts";
import { mostKeys } from "./plain-yaml.ts";
import { splitYamlBlocks } from "./yaml-blocks.ts";
import { toFault } from "./yaml-fault.ts";
import type { Fault, Mend, YamlAttempt, YamlFailure, YamlReading } from "./yaml.ts";

/**
 * Reads a mapping key by key if it cannot be read as a whole (C-1.5). Valid keys are kept, values that are obviously text are read as
 * text, and other keys are dropped. Both of the latter are faults, so there is at least one unless the mapping was only too long to
 * parse.
 */
export function recoverYaml(
  text: string,
  whole: YamlFailure,
  load: (text: string) => YamlAttempt,
): Omit<YamlReading, "isClean"> {
  /** Aliases to anchors in other blocks are part of the same fault. */
  const loadPart = (part: string): YamlAttempt => {
    const attempt = load(part);
    const isPart = whole.cause === "aliases" && "reason" in attempt && attempt.reason.startsWith("unidentified alias");
    return isPart ? { ...attempt, cause: "aliases" } : attempt;
  };
  const values: Record<string, unknown> = {};
  const faults: Fault[] = whole.cause === "aliases" ? [toFault(whole, 0)] : [];
  const mends: Mend[] = [];
  for (const [index, block] of splitYamlBlocks(text, mostKeys + 1).entries()) {
    const { start, end, key } = block;
    if (index === mostKeys) {
      faults.push({
        code: "yaml-syntax",
        offset: start,
        message: `the frontmatter has more than ${inDigits(mostKeys)} keys; the rest are skipped`,
        fix: "Put your own keys under `metadata:`, or move the text below the frontmatter.",
      });
      break;
    }
    if (key === undefined) {
      faults.push(strayLine(text, start, end));
      continue;
    }
    const mended = mendBlock(text, { ...block, key }, loadPart);
    const found = ownValue(mended.values, key);
    const place = { start, end: mended.end };
    if (Object.hasOwn(values, key)) {
      const message = `duplicate key \`${key}\`; the first one is used`;
      const at = start + block.indent;
      faults.push({
        code: "yaml-duplicate-key",
        offset: at,
        end: at + key.length,
        message,
        fix: "Remove one of the two.",
      });
      if (mended.faults.length === 0 && isDeepStrictEqual(found, values[key])) mends.push({ ...place, text: "" });
      continue;
    }
    const isToldAbove = ({ code }: Fault): boolean => whole.cause === "aliases" && code === "yaml-alias-bomb";
    faults.push(...mended.faults.filter((fault) => !isToldAbove(fault)));
    if (mended.text !== undefined) mends.push({ ...place, text: mended.text });
    if (mended.values !== undefined) {
      Object.defineProperty(values, key, { value: found, enumerable: true, configurable: true, writable: true });
    }
  }
  if (faults.length === 0 && whole.cause !== "length") faults.push(toFault(whole, 0));
  return { values, faults, mends };
}

function ownValue(mapping: unknown, key: string): unknown {
  return typeof mapping === "object" && mapping !== null && Object.hasOwn(mapping, key)
    ? (mapping as Record<string, unknown>)[key]
    : undefined;
}

function strayLine(text: string, offset: number, end: number): Fault {
  const length = text.slice(offset, end).search(/[\r\n]|$/);
  return {
    code: "yaml-syntax",
    offset,
    end: offset + length,
    message:
      text[offset] === "\t" ? "tab used for indentation" : "line is neither `key: value` nor indented below a key",
    fix: "Indent it with spaces if it continues the line above, or give it a key.",
  };
}
