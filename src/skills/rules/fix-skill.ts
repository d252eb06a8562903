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
  /** What was repaired, in the order of the repairs; empty where the text is as it was. */
  readonly fixed: readonly RuleCode[];
}

/** How many times a text may be read in search of repairs, all attempts taken together; it takes about ten. */
const mostReadings = 32;
const attemptLength = 4096;

/**
 * Repairs what can be repaired in one way only: it never changes what a reader understands, except for the case of a name
 * whose directory tells the right one. All other bytes, the body first, stay as they are. Fixing twice is fixing once.
 * Leave out `expectedName` where a manifest gives the name. Takes time proportional to the frontmatter's length.
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

/** All repairs, one after the other; undefined where looking for them takes too long, for half of them is none. */
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
    // Below a name, lines may be read that were not before.
    takeAll();
  }
  return left < 0 ? undefined : { source: current, fixed };
}

/** What is read once enough has been read: it says nothing, so that nothing is found in it to repair. */
const nothing: YamlReading = { values: {}, faults: [], isClean: true, mends: [] };
/** How many corrections are tried alone where they cannot be made together. */
const mostAlone = 8;

/** Makes every correction where the whole then has fewer faults and says the same; else the first that can be made alone. */
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

/** The codes of the faults that are gone; undefined where none is, another came, or anything says something else. */
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

/** Adds the name, or spells it as its directory does, where the directory leaves no doubt. */
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
