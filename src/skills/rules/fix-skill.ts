import { isDeepStrictEqual } from "node:util";
import { findFrontmatter, isYaml } from "../text/frontmatter.ts";
import { isSlug, toSlug } from "../names.ts";
import { maxFrontmatterBytes } from "../manifest/parse-skill.ts";
import type { RuleCode } from "./rules.ts";
import { splitYamlBlocks } from "../yaml/yaml-blocks.ts";
import { readYaml } from "../yaml/yaml.ts";
import type { Mend, YamlReading } from "../yaml/yaml.ts";

export interface FixedSkill {
  readonly text: string;
  /** The codes of the repaired problems, in order; empty if the text is unchanged. */
  readonly fixed: readonly RuleCode[];
}

/** Maximum number of readings of a text in total while searching for repairs. About ten are typical. */
const mostReadings = 32;
const attemptLength = 4096;

/**
 * Applies unambiguous repairs. They never change the meaning, except for the spelling of a name that differs from its
 * directory. All other bytes, including the body, stay unchanged. Idempotent.
 * Omit `expectedName` if a manifest gives the name. Takes time proportional to the length of the frontmatter.
 */
export function fixSkill(text: string, { expectedName }: { expectedName?: string }): FixedSkill {
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  const unfixed: FixedSkill = { text, fixed: [] };
  if (found.kind !== "found" || found.end > maxFrontmatterBytes || !isYaml(found.language)) return unfixed;
  if (bytes.toString("utf8") !== text) return unfixed;
  const opening = bytes.toString("utf8", 0, found.start);
  const source = bytes.toString("utf8", found.start, found.end);
  const rest = bytes.toString("utf8", found.end);
  const marks: RuleCode[] = found.byteOrderMark ? ["byte-order-mark"] : [];
  const fence = opening.slice(found.byteOrderMark && opening.startsWith("\ufeff") ? 1 : 0, opening.indexOf("\n") + 1);
  const repaired = repairAll(source, expectedName, opening.endsWith("\r\n") ? "\r\n" : "\n") ?? { source, fixed: [] };
  return { text: fence + repaired.source + rest, fixed: [...marks, ...repaired.fixed] };
}

interface Repairs {
  readonly source: string;
  readonly fixed: readonly RuleCode[];
}

/** Applies all repairs; undefined if the search takes too long, because partial repairs are not applied. */
function repairAll(source: string, expectedName: string | undefined, lineBreak: string): Repairs | undefined {
  let left = mostReadings * source.length + mostReadings * attemptLength;
  const read = (text: string): YamlReading => {
    left -= text.length;
    return left < 0 ? nothing : readYaml(text);
  };
  let current = source;
  const fixed: RuleCode[] = [];
  const takeAll = (): void => {
    for (let repair = nextRepairs(current, read); repair !== undefined; repair = nextRepairs(current, read)) {
      current = repair.source;
      fixed.push(...repair.fixed);
    }
  };
  takeAll();
  const named = withName(current, expectedName, lineBreak, read);
  if (named !== undefined) {
    current = named.source;
    fixed.push(...named.fixed);
    // With a name above them, more lines may be readable than before.
    takeAll();
  }
  return left < 0 ? undefined : { source: current, fixed };
}

/** The result once the reading limit is reached: empty, so that no further repairs are found. */
const nothing: YamlReading = { values: {}, faults: [], isClean: true, mends: [] };
/** Maximum number of corrections to try one by one if they cannot be applied together. */
const mostAlone = 8;

/** Applies all corrections if that reduces the faults and keeps the values; else the first one that does so alone. */
function nextRepairs(source: string, read: (text: string) => YamlReading): Repairs | undefined {
  const before = read(source);
  const { mends } = before;
  for (const some of [mends, ...(mends.length > 1 ? mends.slice(0, mostAlone).map((one) => [one]) : [])]) {
    if (some.length === 0) continue;
    const candidate = withMends(source, some);
    const fixed = gain(before, read(candidate));
    if (fixed !== undefined) return { source: candidate, fixed };
  }
  return undefined;
}

function withMends(source: string, mends: readonly Mend[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, text } of mends) {
    result += source.slice(from, start) + text;
    from = end;
  }
  return result + source.slice(from);
}

/** The codes of the removed faults; undefined if there are none, a fault was added, or a value changed. */
function gain(before: YamlReading, after: YamlReading): RuleCode[] | undefined {
  if (after.faults.length >= before.faults.length || !isDeepStrictEqual(before.values, after.values)) return undefined;
  const gone: RuleCode[] = before.faults.map(({ code }) => code);
  for (const { code } of after.faults) {
    const place = gone.indexOf(code);
    if (place < 0) return undefined;
    gone.splice(place, 1);
  }
  return gone;
}

/** Adds a missing name from the directory, or changes the spelling of the name to that of the directory. */
function withName(
  source: string,
  expectedName: string | undefined,
  lineBreak: string,
  read: (text: string) => YamlReading,
): Repairs | undefined {
  if (expectedName === undefined || !isSlug(expectedName)) return undefined;
  const before = read(source);
  const accepted = (candidate: string, code: RuleCode): Repairs | undefined => {
    const after = read(candidate);
    const isSound =
      after.faults.length <= before.faults.length &&
      isDeepStrictEqual(after.values, { ...before.values, name: expectedName });
    return isSound ? { source: candidate, fixed: [code] } : undefined;
  };
  const block = splitYamlBlocks(source).find(({ key }) => key === "name");
  if (block === undefined) {
    const isEmpty = Object.keys(before.values).length === 0;
    return isEmpty ? undefined : accepted(`name: ${expectedName}${lineBreak}${source}`, "name-missing");
  }
  const name = typeof before.values.name === "string" ? before.values.name.trim() : "";
  if (name === "" || name === expectedName || toSlug(name) !== expectedName) return undefined;
  const raw = source.slice(block.value, block.end);
  if (!raw.includes(name)) return undefined;
  const renamed = source.slice(0, block.value) + raw.replace(name, () => expectedName) + source.slice(block.end);
  return accepted(renamed, name === name.toLowerCase() ? "name-invalid-characters" : "name-not-lowercase");
}
