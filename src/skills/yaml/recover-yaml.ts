import { mostKeys } from "./plain-yaml.ts";
import { recoverText } from "./recovered-text.ts";
import {
  escapeFault,
  indentedKey,
  repeatedKey,
  strayLine,
  tabFault,
  toFault,
  tooManyKeys,
  unindentedText,
  unreadKey,
} from "./yaml-faults.ts";
import { goesOnUnindented, splitYamlBlocks } from "./yaml-blocks.ts";
import type { YamlBlock } from "./yaml-blocks.ts";
import type { Fault, YamlAttempt, YamlFailure } from "./yaml.ts";

type Load = (text: string) => YamlAttempt;

/** The most repairs of one block's text before it is given up. */
const mostRepairs = 20;

/** What has been read so far. */
interface Recovery {
  readonly values: Record<string, unknown>;
  readonly faults: Fault[];
  readonly load: Load;
  readonly withoutAliases: boolean;
}

/**
 * Reads a mapping that could not be read as a whole key by key (C-1.5): a key that can be read is kept, one whose text is
 * plain to a person is taken as that text, and any other is dropped. Each of the latter two is a fault; so there is at
 * least one, unless the whole was only too long to try.
 */
export function recoverYaml(
  text: string,
  whole: YamlFailure,
  load: Load,
): { values: Record<string, unknown>; faults: readonly Fault[] } {
  const withoutAliases = whole.cause === "aliases";
  const recovery: Recovery = { values: {}, faults: [], load, withoutAliases };
  const { values, faults } = recovery;
  if (withoutAliases) faults.push(toFault(whole, 0));
  for (const [index, block] of splitYamlBlocks(text, mostKeys + 1).entries()) {
    if (index === mostKeys) faults.push(tooManyKeys(mostKeys, block));
    if (index >= mostKeys) break;
    const { key } = block;
    if (key === undefined) faults.push(strayLine(text, block));
    else if (Object.hasOwn(values, key)) faults.push(repeatedKey(key, block));
    else readBlock(text, block, key, recovery);
  }
  if (faults.length === 0 && whole.cause !== "length") faults.push(toFault(whole, 0));
  return { values, faults };
}

function readBlock(text: string, block: YamlBlock, key: string, recovery: Recovery): void {
  const { values, faults, load, withoutAliases } = recovery;
  if (block.indent > 0) faults.push(indentedKey(key, block));
  const found = text.slice(block.start, block.end);
  const unindented = goesOnUnindented(text, block);
  const source = unindented < 0 ? found : withIndent(found);
  if (unindented >= 0) faults.push(unindentedText(key, unindented));
  const { attempt, repaired, repairs } = repair(source, block.start, load);
  if (!("reason" in attempt)) {
    faults.push(...repairs);
    take(values, key, ownValue(attempt.values, key));
    return;
  }
  const { cause, reason } = attempt;
  if (withoutAliases && (cause === "aliases" || reason.startsWith("unidentified alias"))) return;
  const untabbed = withoutTabs(repaired);
  const retried = untabbed === repaired ? attempt : load(untabbed);
  if (!("reason" in retried)) {
    faults.push(...repairs, tabFault(block.start + source.search(/^ *\t/m)));
    take(values, key, ownValue(retried.values, key));
    return;
  }
  if (cause === "length") {
    faults.push(unreadKey(key, block));
    return;
  }
  const recovered = cause === "aliases" || reason.includes("tag ") ? undefined : recoverText(text, block);
  if (recovered === undefined) {
    faults.push(
      ...repairs,
      toFault({ ...attempt, offset: Math.min(attempt.offset, source.trimEnd().length) }, block.start),
    );
    return;
  }
  faults.push(recovered.fault);
  take(values, key, recovered.text);
}

/** A block read after taking out what is doubtless: keys that come again, and backslashes that escape nothing. */
function repair(
  source: string,
  base: number,
  load: Load,
): { attempt: YamlAttempt; repaired: string; repairs: readonly Fault[] } {
  const repairs: Fault[] = [];
  let repaired = source;
  let added = 0;
  let attempt = load(repaired);
  while ("reason" in attempt && repairs.length < mostRepairs) {
    const { reason, offset } = attempt;
    const backslash = repaired.lastIndexOf("\\", offset);
    if (reason.includes("duplicated")) {
      repairs.push(toFault({ ...attempt, offset: offset - added }, base));
      repaired = withoutLine(repaired, offset);
    } else if (/escape|hexadecimal/.test(reason) && backslash >= offset - longestEscape) {
      repairs.push(escapeFault(base + backslash - added));
      repaired = `${repaired.slice(0, backslash)}\\${repaired.slice(backslash)}`;
      added++;
    } else {
      break;
    }
    attempt = load(repaired);
  }
  if ("reason" in attempt) attempt = { ...attempt, offset: Math.max(attempt.offset - added, 0) };
  return { attempt, repaired, repairs };
}

/** `\U` and seven digits: how far behind its backslash an escape can fail. */
const longestEscape = 9;

function take(values: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
}

function ownValue(mapping: unknown, key: string): unknown {
  return typeof mapping === "object" && mapping !== null && Object.hasOwn(mapping, key)
    ? (mapping as Record<string, unknown>)[key]
    : undefined;
}

/** The same text with two blanks before each further line that has none. */
export function withIndent(text: string): string {
  return text.replace(/\n(?=[^\s])/g, "\n  ");
}

/** The same text with blanks for the tabs that indent it. */
export function withoutTabs(text: string): string {
  return text.includes("\t") ? text.replace(/^[ \t]*\t[ \t]*/gm, (indent) => indent.replaceAll("\t", "  ")) : text;
}

function withoutLine(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const feed = text.indexOf("\n", offset);
  return (
    text.slice(0, start) + "#".repeat((feed < 0 ? text.length : feed) - start) + (feed < 0 ? "" : text.slice(feed))
  );
}
