import { isDeepStrictEqual } from "node:util";
import { findFrontmatter, isYaml } from "./frontmatter.ts";
import { isSlug, toSlug } from "./names.ts";
import { withoutTabs } from "./recover-yaml.ts";
import type { RuleCode } from "./rules.ts";
import { splitYamlBlocks } from "./yaml-blocks.ts";
import type { YamlBlock } from "./yaml-blocks.ts";
import { readYaml } from "./yaml.ts";
import type { Fault, YamlReading } from "./yaml.ts";

export interface FixedSkill {
  readonly text: string;
  /** What was repaired, in the order of the repairs; empty where the text is as it was. */
  readonly fixed: readonly RuleCode[];
}

const mostRepairs = 100;
/** The most characters read to find repairs, all attempts taken together. */
const mostRead = 512 * 1024;

/**
 * Repairs what can be repaired in one way only: it never changes what a reader understands, except for the case of a name
 * whose directory tells the right one. All other bytes, the body first, stay as they are. Fixing twice is fixing once.
 * Leave out `expectedName` where a manifest gives the name.
 */
export function fixSkill(text: string, { expectedName }: { expectedName?: string }): FixedSkill {
  const fixed: RuleCode[] = [];
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language) || bytes.toString("utf8") !== text) return { text, fixed };
  const opening = bytes.toString("utf8", 0, found.start);
  let source = bytes.toString("utf8", found.start, found.end);
  const rest = bytes.toString("utf8", found.end);
  if (found.byteOrderMark) fixed.push("byte-order-mark");
  let left = mostRead;
  const read = (candidate: string): YamlReading | undefined => {
    left -= candidate.length;
    return left < 0 ? undefined : readYaml(candidate);
  };
  const take = (repair: Repair | undefined): boolean => {
    if (repair === undefined) return false;
    source = repair.source;
    fixed.push(repair.code);
    return true;
  };
  const takeAll = (): void => {
    while (fixed.length < mostRepairs && take(nextRepair(source, read)));
  };
  takeAll();
  // Below a name, lines may be read that were not before.
  if (take(withName(source, expectedName, opening.endsWith("\r\n") ? "\r\n" : "\n"))) takeAll();
  return { text: opening.replace(/^\ufeff|\ufeff+$/g, "") + source + rest, fixed };
}

interface Repair {
  readonly source: string;
  readonly code: RuleCode;
}

/** The first fault that an edit removes without adding another or changing any value. */
function nextRepair(source: string, read: (text: string) => YamlReading | undefined): Repair | undefined {
  const before = read(source);
  if (before === undefined || before.faults.length === 0) return undefined;
  const blocks = splitYamlBlocks(source);
  for (const fault of before.faults) {
    const block = blocks.find(({ start, end }) => start <= fault.offset && fault.offset < end);
    if (block === undefined) continue;
    for (const candidate of candidates(source, blocks, block, fault)) {
      const after = read(candidate);
      if (after === undefined) return undefined;
      if (isBetter(before, after)) return { source: candidate, code: fault.code };
    }
  }
  return undefined;
}

function isBetter(before: YamlReading, after: YamlReading): boolean {
  if (after.faults.length >= before.faults.length || !isDeepStrictEqual(before.values, after.values)) return false;
  const counts = new Map<RuleCode, number>();
  for (const { code } of before.faults) counts.set(code, (counts.get(code) ?? 0) + 1);
  for (const { code } of after.faults) counts.set(code, (counts.get(code) ?? 0) - 1);
  return Array.from(counts.values()).every((spare) => spare >= 0);
}

function* candidates(
  source: string,
  blocks: readonly YamlBlock[],
  { start, end, key, value }: YamlBlock,
  fault: Fault,
): Generator<string> {
  const before = source.slice(0, value);
  const raw = source.slice(value, end);
  const after = source.slice(end);
  switch (fault.code) {
    case "yaml-unquoted-colon":
      yield before + quoted(raw) + after;
      return;
    case "yaml-syntax":
      if (source[fault.offset] === "\\") yield `${source.slice(0, fault.offset)}\\${source.slice(fault.offset)}`;
      yield before + quoted(raw) + after;
      yield before + quoted(raw.replace(/^["']/, "")) + after;
      yield source.slice(0, start) + withoutTabs(source.slice(start, end)) + after;
      return;
    case "yaml-duplicate-key": {
      const first = blocks.find((other) => other.key === key);
      const same =
        first !== undefined && first.start < start && source.slice(first.value, first.end).trim() === raw.trim();
      if (same) yield source.slice(0, start) + after;
      return;
    }
    case "yaml-tag":
    case "yaml-alias-bomb":
    case "yaml-not-strict":
    case "frontmatter-not-a-mapping":
      return;
  }
}

/** A value in single quotes, which fold its lines as it was folded before. Blanks around it stay outside. */
function quoted(raw: string): string {
  const text = raw.trim();
  const start = raw.indexOf(text);
  return `${raw.slice(0, start)}'${text.replaceAll("'", "''")}'${raw.slice(start + text.length)}`;
}

/** Adds the name, or spells it as its directory does, where the directory leaves no doubt. */
function withName(source: string, expectedName: string | undefined, lineBreak: string): Repair | undefined {
  if (expectedName === undefined || !isSlug(expectedName)) return undefined;
  const before = readYaml(source);
  const block = splitYamlBlocks(source).find(({ key }) => key === "name");
  if (block === undefined) {
    const isEmpty = Object.keys(before.values).length === 0;
    return isEmpty
      ? undefined
      : accepted(`name: ${expectedName}${lineBreak}${source}`, before, expectedName, "name-missing");
  }
  const name = typeof before.values.name === "string" ? before.values.name.trim() : "";
  if (name === "" || name === expectedName || toSlug(name) !== expectedName) return undefined;
  const raw = source.slice(block.value, block.end);
  if (!raw.includes(name)) return undefined;
  const renamed = source.slice(0, block.value) + raw.replace(name, () => expectedName) + source.slice(block.end);
  return accepted(
    renamed,
    before,
    expectedName,
    name === name.toLowerCase() ? "name-invalid-characters" : "name-not-lowercase",
  );
}

function accepted(source: string, before: YamlReading, name: string, code: RuleCode): Repair | undefined {
  const after = readYaml(source);
  const isSound =
    after.faults.length <= before.faults.length && isDeepStrictEqual(after.values, { ...before.values, name });
  return isSound ? { source, code } : undefined;
}
