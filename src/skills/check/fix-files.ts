import { isUtf8 } from "node:buffer";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { systemCode, systemReason } from "../../base/failures/system-error.ts";
import { undefinedIfOurs } from "../../base/errors.ts";
import { openRegularFile } from "../../base/paths/at-real-path.ts";
import { guardedSegment, leadsIntoGit } from "../../base/paths/guarded-names.ts";
import { isWithin } from "../../base/paths/location.ts";
import type { RuleCode } from "../rules.ts";
import { findFrontmatter, isYaml, maxFrontmatterBytes } from "../manifest/frontmatter.ts";
import { type YamlReading, readYaml, splitYamlBlocks } from "../manifest/yaml.ts";
import { isSlug, toSlug } from "../skill.ts";

/** A SKILL.md that may need repairs. */
export interface FixableSkill {
  readonly directory: string;
  readonly expectedName: string;
  readonly file: string;
}

/** A repaired file, with one code for each problem. */
export interface FixedFile {
  readonly file: string;
  readonly codes: readonly RuleCode[];
}

export interface FixOutcome {
  readonly fixed: readonly FixedFile[];
  /** Why fixable files were not changed. */
  readonly refusals: readonly string[];
}

/** The maximum size of a file to repair, because a repair loads the whole file. */
const maxFixableBytes = 16 * 1024 * 1024;

/** Repairs files, each with one call of `write`. Never writes outside `bounds` (real paths), even through symlinks. */
export async function fixFiles(
  skills: readonly FixableSkill[],
  bounds: readonly string[],
  write: (file: string, text: string) => void,
): Promise<FixOutcome> {
  const fixed: { file: string; codes: readonly RuleCode[] }[] = [];
  const refusals: string[] = [];
  for (const skill of skills) {
    let { file } = skill;
    try {
      file = await realpath(file);
      const text = await readWhole(file).catch(undefinedIfOurs);
      if (text === undefined) continue;
      const repaired = fixSkill(text, { expectedName: await nameToMatch(skill) });
      if (repaired.text === text) continue;
      if (!bounds.some((bound) => isWithin(file, bound))) {
        refusals.push(`${file} was not fixed: it is outside the given paths`);
        continue;
      }
      const trusted = bounds.find((bound) => isTrusted(file, bound));
      if (trusted !== undefined) {
        refusals.push(`${file} was not fixed: a link leads to it, and git, agents or editors trust it`);
        continue;
      }
      write(file, repaired.text);
      fixed.push({ file, codes: repaired.fixed });
    } catch (error) {
      const reason = systemReason(error);
      // The scan reports symbolic links without a target.
      if (systemCode(error) !== "ENOENT") refusals.push(`${file} was not fixed: ${reason}`);
    }
  }
  return { fixed, refusals };
}

/** Whether git, agents or editors trust the file at a real path below a directory. */
function isTrusted(real: string, above: string): boolean {
  const isSkill = path.basename(real).toLowerCase() === "skill.md";
  return leadsIntoGit(real, above) || (!isSkill && guardedSegment(path.relative(above, real)) !== undefined);
}

/** The name that the frontmatter must have. With a skill.toml, the name in the frontmatter is only a display name. */
async function nameToMatch({ directory, expectedName }: FixableSkill): Promise<string> {
  const manifest = await stat(path.join(directory, "skill.toml")).catch(() => undefined);
  return manifest === undefined ? expectedName : "";
}

/** Reads a regular file. Returns undefined if writing it back could lose data, because it is too long or not UTF-8. */
async function readWhole(file: string): Promise<string | undefined> {
  const handle = await openRegularFile(file);
  try {
    if ((await handle.stat()).size > maxFixableBytes) return undefined;
    const bytes = await handle.readFile();
    return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
  } finally {
    await handle.close();
  }
}

interface FixedSkill {
  readonly text: string;
  /** The codes of the repaired problems, in order; empty if the text is unchanged. */
  readonly fixed: readonly RuleCode[];
}

/**
 * Applies unambiguous repairs. They never change the meaning, except that a name is spelt like its directory. All other bytes, including
 * the body, stay unchanged. Idempotent. Omit `expectedName` if a manifest gives the name. Takes time proportional to the length of the
 * frontmatter.
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

/** A possibly better text, and the values that it must have. */
interface Candidate {
  readonly source: string;
  readonly values: YamlReading["values"];
  /** The code of the problem that a changed name repairs. */
  readonly code?: RuleCode;
}

/** Maximum number of readings of a text while searching for repairs. About five are typical. */
const maxReadings = 32;
/** Maximum number of corrections to try one by one if they cannot be applied together. */
const maxAlone = 8;

/** Applies all repairs; undefined if the search takes too long, because incomplete repairs are not applied. */
function repairAll(original: string, expectedName: string | undefined, lineBreak: string) {
  const fixed: RuleCode[] = [];
  let source = original;
  let before = readYaml(source);
  let readings = 1;
  for (;;) {
    let better: YamlReading | undefined;
    for (const candidate of candidates(source, before, expectedName, lineBreak)) {
      if (++readings > maxReadings) return undefined;
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

/** Yields all corrections together, then each one, then corrections of the name: below a correct name, more lines may be readable. */
function* candidates(
  source: string,
  { values, mends: all }: YamlReading,
  expectedName: string | undefined,
  lineBreak: string,
): Generator<Candidate> {
  const mends = all.filter(({ start, end }) => !isOpenList(source.slice(start, end)));
  const apart = mends.length > 1 ? mends.slice(0, maxAlone).map((mend) => [mend]) : [];
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

/** Whether a list or mapping is not closed. It may be meant as one, but its missing text cannot be guessed. */
function isOpenList(block: string): boolean {
  return /^[^:\n]*:\s*(?:\[[^\]]*|\{[^}]*)$/.test(block);
}

/** The codes of the removed faults; undefined if there are none, a fault was added, or a value differs. */
function gain(before: YamlReading, after: YamlReading, { values, code }: Candidate): readonly RuleCode[] | undefined {
  if (!isDeepStrictEqual(after.values, values)) return undefined;
  if (code !== undefined) return after.faults.length <= before.faults.length ? [code] : undefined;
  const gone: RuleCode[] = before.faults.map((fault) => fault.code);
  for (const fault of after.faults) {
    const index = gone.indexOf(fault.code);
    if (index < 0) return undefined;
    gone.splice(index, 1);
  }
  return gone.length === 0 ? undefined : gone;
}
