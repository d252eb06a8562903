import path from "node:path";
import type { Steps } from "../../../base/promises.ts";
import type { SkillFiles } from "../../files.ts";
import type { Finding } from "../../rules.ts";
import { unreadableFinding, wholeFile } from "./disk-findings.ts";

/** The patterns of `.gitignore` and `.ignore` files; the deepest file comes last and decides. */
export type IgnoreRules = readonly { readonly base: string; readonly patterns: readonly IgnoreRule[] }[];

/** One line of an ignore file with git's semantics, for directories only. */
interface IgnorePattern {
  /** Whether the pattern re-includes names that an earlier pattern ignores. */
  readonly negated: boolean;
  /** Whether the pattern matches the path relative to the ignore file, rather than a name at any depth. */
  readonly anchored: boolean;
  /** The patterns of names, one per path segment. */
  readonly names: readonly (string | readonly CharacterPattern[] | typeof anyNumber)[];
}

export interface IgnoreRule extends IgnorePattern {
  /** Whether the rule is from `.gitignore`. Only search tools read `.ignore`, which excludes skills deliberately. */
  readonly ofGit: boolean;
}

/** A pattern of one character; a string matches itself. */
type CharacterPattern = string | RegExp | typeof anyNumber;

/** The pattern for any number of segments, or of characters. */
const anyNumber: unique symbol = Symbol("**");

const maxBytes = 64 * 1024;
const maxPatterns = 2000;
/** The maximum length of a pattern: matching time grows with length. */
const maxPatternLength = 512;
const maxWildcards = 32;
/** The number of patterns between pauses: the hardest pattern takes a tenth of a millisecond for the longest name. */
const patternsBetweenPauses = 16;

/** Reads the patterns of an ignore file, and a finding for those that are not applied. */
export function readIgnoreFile(files: SkillFiles, file: string): { patterns: IgnoreRule[]; findings: Finding[] } {
  const patterns: IgnoreRule[] = [];
  const findings: Finding[] = [];
  const ofGit = file.endsWith(".gitignore");
  try {
    const { bytes, whole } = files.head(file, maxBytes);
    const lines = Buffer.from(bytes).toString("utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      const pattern = parseIgnorePattern(line);
      if (pattern === undefined) continue;
      if (pattern !== "excessive" && patterns.length < maxPatterns) patterns.push({ ...pattern, ofGit });
      else if (findings.length === 0) findings.push({ ...notApplied(file, pattern), line: index + 1 });
      if (patterns.length === maxPatterns && findings.length > 0) break;
    }
    if (!whole)
      findings.push(excessive(file, `only the first ${maxBytes / 1024} KiB of the file are used`, "Shorten it."));
  } catch (error) {
    findings.push(unreadableFinding(file, error));
  }
  return { patterns, findings };
}

function notApplied(file: string, pattern: IgnorePattern | "excessive"): Finding {
  if (pattern !== "excessive") {
    const message = `only the first ${maxPatterns} patterns of the file are applied`;
    return excessive(file, message, "Ignore whole directories instead of their content.");
  }
  const message = `a pattern exceeds ${maxPatternLength} characters or ${maxWildcards} wildcards and is not applied`;
  return excessive(file, message, "Shorten it, or split it into several patterns.");
}

function excessive(file: string, message: string, fix: string): Finding {
  return wholeFile("ignore-pattern-excessive", file, message, fix);
}

/** Finds the rule that ignores a directory. Parent directories must have been checked before. */
export function* findIgnoreRule(rules: IgnoreRules, directory: string): Steps<IgnoreRule | undefined> {
  let count = 0;
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index];
    if (rule === undefined) continue;
    const relative = path.relative(rule.base, directory);
    if (relative === "" || relative.startsWith("..")) continue;
    const names = relative.split(path.sep);
    for (let last = rule.patterns.length - 1; last >= 0; last--) {
      if (++count % patternsBetweenPauses === 0) yield undefined;
      const pattern = rule.patterns[last];
      if (pattern !== undefined && matchesIgnorePattern(pattern, names)) {
        return pattern.negated ? undefined : pattern;
      }
    }
  }
  return undefined;
}

/** Parses a line; undefined if it is blank or a comment, "excessive" if it is too long or has too many wildcards. */
export function parseIgnorePattern(line: string): IgnorePattern | "excessive" | undefined {
  let text = withoutTrailingBlanks(line.endsWith("\r") ? line.slice(0, -1) : line);
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  // Only directories are matched, so a trailing slash is redundant.
  if (text.endsWith("/")) text = text.slice(0, -1);
  const anchored = text.includes("/");
  const segments = (text.startsWith("/") ? text.slice(1) : text).split("/").filter(isNotRepeated);
  if (segments.some((segment) => segment === "")) return undefined;
  const collapsed = segments.map((segment) => segment.replace(/\*{2,}/g, "*"));
  const length = collapsed.reduce((sum, segment) => sum + segment.length + 1, 0);
  const wildcards = collapsed.join("").match(/[*?[]/g)?.length ?? 0;
  if (length > maxPatternLength || wildcards > maxWildcards) return "excessive";
  const names = segments.flatMap((segment, index): (IgnorePattern["names"][number] | undefined)[] => {
    if (segment !== "**" || !anchored) return [toName(collapsed[index] ?? "")];
    // At the end, `**` matches everything inside, but not the directory itself.
    return index === segments.length - 1 ? [toName("*"), anyNumber] : [anyNumber];
  });
  return names.includes(undefined)
    ? undefined
    : { negated, anchored, names: names.filter((name) => name !== undefined) };
}

/** Whether a pattern matches a directory, given as path segments relative to the ignore file. */
export function matchesIgnorePattern({ anchored, names }: IgnorePattern, path: readonly string[]): boolean {
  return anchored ? matchesAll(names, path, matchesName) : matchesName(names[0], path.at(-1) ?? "");
}

/** Matches a list of patterns. Only the last wildcard is retried, so no match is tried twice. */
function matchesAll<Part>(
  segments: readonly Part[],
  items: readonly string[],
  matchesOne: (segment: Part | undefined, item: string) => boolean,
): boolean {
  let [at, index] = [0, 0];
  let retry: { readonly at: number; index: number } | undefined;
  while (index < items.length) {
    if (segments[at] === anyNumber) retry = { at: ++at, index };
    else if (at < segments.length && matchesOne(segments[at], items[index] ?? "")) {
      at++;
      index++;
    } else if (retry !== undefined) {
      at = retry.at;
      index = ++retry.index;
    } else return false;
  }
  while (segments[at] === anyNumber) at++;
  return at === segments.length;
}

function matchesName(name: IgnorePattern["names"][number] | undefined, text: string): boolean {
  if (typeof name !== "object") return name === text;
  const [first, last] = [name[0], name.at(-1)];
  // Most names differ at one of their ends.
  if (typeof first === "string" && !text.startsWith(first)) return false;
  if (typeof last === "string" && !text.endsWith(last)) return false;
  return matchesAll(name, Array.from(text), matchesCharacter);
}

function matchesCharacter(pattern: CharacterPattern | undefined, character: string): boolean {
  return typeof pattern === "object" ? pattern.test(character) : pattern === character;
}

/** Parses the pattern of a name. Undefined if it cannot match, as with an unclosed bracket. */
function toName(segment: string): IgnorePattern["names"][number] | undefined {
  const parts: CharacterPattern[] = [];
  for (let index = 0; index < segment.length;) {
    const character = characterAt(segment, index);
    index += character.length;
    if (character === "*") parts.push(anyNumber);
    else if (character === "?") parts.push(/./su);
    else if (character === "[") {
      const set = readSet(segment, index);
      if (set === undefined) return undefined;
      parts.push(set.pattern);
      index = set.end;
    } else if (character === "\\") {
      const escaped = characterAt(segment, index);
      if (escaped === "") return undefined;
      parts.push(escaped);
      index += escaped.length;
    } else parts.push(character);
  }
  return parts.every((part) => typeof part === "string") ? parts.join("") : parts;
}

function characterAt(text: string, index: number): string {
  return index < text.length ? String.fromCodePoint(text.codePointAt(index) ?? 0) : "";
}

const characterClasses: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`\\{-~",
  xdigit: "0-9A-Fa-f",
};

const member = /\[:(\w+):\]|\\?([^])(?:-(?!\])\\?([^]))?/uy;

/** Parses a bracket expression that opens before `start`. */
function readSet(segment: string, start: number): { readonly pattern: RegExp; readonly end: number } | undefined {
  const inverted = segment[start] === "!" || segment[start] === "^";
  let source = "";
  let end = start + (inverted ? 1 : 0);
  for (let isFirst = true; isFirst || segment[end] !== "]"; isFirst = false) {
    member.lastIndex = end;
    const [whole, name, low, high] = member.exec(segment) ?? [];
    const named = name === undefined ? undefined : characterClasses[name];
    if (whole === undefined || (name !== undefined && named === undefined)) return undefined;
    // As in git, a reversed range is its first character.
    const [from, to] = [low, high].map((character) => character?.codePointAt(0) ?? 0) as [number, number];
    source += named ?? `${escapePoint(from)}-${escapePoint(Math.max(from, to))}`;
    end += whole.length;
  }
  return { pattern: new RegExp(`[${inverted ? "^" : ""}${source}]`, "su"), end: end + 1 };
}

function escapePoint(point: number): string {
  return `\\u{${point.toString(16)}}`;
}

/** Whether a segment is not a repeated `**`, which is equivalent to one. */
function isNotRepeated(segment: string, index: number, all: readonly string[]): boolean {
  return segment !== "**" || all[index - 1] !== "**";
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
