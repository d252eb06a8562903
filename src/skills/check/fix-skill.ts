import { isDeepStrictEqual } from "node:util";
import { findFrontmatter, isYaml, maxFrontmatterBytes } from "../manifest/frontmatter.ts";
import type { RuleCode } from "../rules.ts";
import { type YamlReading, readYaml, splitYamlBlocks } from "../manifest/yaml.ts";
import { isSlug, toSlug } from "../skill.ts";

export interface FixedSkill {
  readonly text: string;
  /** The codes of the repaired problems, in order; empty if the text is unchanged. */
  readonly fixed: readonly RuleCode[];
}

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

/** A text that may be better, and the values that it must have. */
interface Candidate {
  readonly source: string;
  readonly values: YamlReading["values"];
  /** What a changed name repairs. */
  readonly code?: RuleCode;
}

/** Maximum number of readings of a text while searching for repairs. About five are typical. */
const mostReadings = 32;
/** Maximum number of corrections to try one by one if they cannot be applied together. */
const mostAlone = 8;

/** Applies all repairs; undefined if the search takes too long, because partial repairs are not applied. */
function repairAll(
  original: string,
  expectedName: string | undefined,
  lineBreak: string,
): { source: string; fixed: readonly RuleCode[] } | undefined {
  const fixed: RuleCode[] = [];
  let source = original;
  let before = readYaml(source);
  let readings = 1;
  for (;;) {
    let better: YamlReading | undefined;
    for (const candidate of candidates(source, before, expectedName, lineBreak)) {
      if (++readings > mostReadings) return undefined;
      const after = readYaml(candidate.source);
      const gone = gain(before, after, candidate);
      if (gone === undefined) continue;
      fixed.push(...gone);
      ({ source } = candidate);
      better = after;
      break;
    }
    if (better === undefined) return { source, fixed };
    before = better;
  }
}

/** All corrections together, else one by one, else of the name: with a name above them, more lines may be readable. */
function* candidates(
  source: string,
  { values, mends }: YamlReading,
  expectedName: string | undefined,
  lineBreak: string,
): Generator<Candidate> {
  const apart = mends.length > 1 ? mends.slice(0, mostAlone).map((mend) => [mend]) : [];
  for (const some of [mends, ...apart]) {
    let [corrected, from] = ["", 0];
    for (const { start, end, text } of some) {
      corrected += source.slice(from, start) + text;
      from = end;
    }
    if (some.length > 0) yield { source: corrected + source.slice(from), values };
  }
  if (expectedName === undefined || !isSlug(expectedName)) return;
  const named = { ...values, name: expectedName };
  const block = splitYamlBlocks(source).find(({ key }) => key === "name");
  if (block === undefined) {
    const isEmpty = Object.keys(values).length === 0;
    if (!isEmpty) yield { source: `name: ${expectedName}${lineBreak}${source}`, values: named, code: "name-missing" };
    return;
  }
  const name = typeof values.name === "string" ? values.name.trim() : "";
  if (name === expectedName || toSlug(name) !== expectedName) return;
  const renamed = source.slice(block.value, block.end).replace(name, () => expectedName);
  yield {
    source: source.slice(0, block.value) + renamed + source.slice(block.end),
    values: named,
    code: name === name.toLowerCase() ? "name-invalid-characters" : "name-not-lowercase",
  };
}

/** The codes of the removed faults; undefined if there are none, a fault was added, or a value differs. */
function gain(before: YamlReading, after: YamlReading, { values, code }: Candidate): readonly RuleCode[] | undefined {
  if (!isDeepStrictEqual(after.values, values)) return undefined;
  if (code !== undefined) return after.faults.length <= before.faults.length ? [code] : undefined;
  const gone: RuleCode[] = before.faults.map((fault) => fault.code);
  for (const fault of after.faults) {
    const place = gone.indexOf(fault.code);
    if (place < 0) return undefined;
    gone.splice(place, 1);
  }
  return gone.length === 0 ? undefined : gone;
}
