import path from "node:path";
import type { Steps } from "../../../base/promises.ts";
import type { SkillFiles } from "../../files.ts";
import type { Finding } from "../../rules.ts";
import { unreadableFinding, wholeFile } from "./disk-findings.ts";

/** The patterns of `.gitignore` and `.ignore` files; the deepest file comes last and decides. */
export type IgnoreRules = readonly { readonly base: string; readonly patterns: readonly IgnoreRule[] }[];

/** One line of an ignore file with git's semantics, for directories only. */
interface IgnorePattern {
  /** Whether it re-includes what an earlier pattern ignores. */
  readonly negated: boolean;
  /** Whether it matches the path relative to the ignore file, rather than a name at any depth. */
  readonly anchored: boolean;
  /** One per path segment; a string matches itself, `anyNames` any number of segments. */
  readonly names: readonly (string | Glob | typeof anyNames)[];
}

export interface IgnoreRule extends IgnorePattern {
  /** Whether it is from `.gitignore`; `.ignore` is read by search tools only, and excludes skills deliberately. */
  readonly ofGit: boolean;
}

/** Parts separated by `*`: each has a fixed length, so matching never backtracks. */
interface Glob {
  readonly first: RegExp;
  readonly middle: readonly RegExp[];
  readonly last: RegExp;
}

const anyNames: unique symbol = Symbol("**");

const maxBytes = 64 * 1024;
const mostPatterns = 2000;
/** Longer patterns are not applied, because matching time grows with length. */
const longestPattern = 512;
const mostWildcards = 32;
/** The hardest pattern takes a tenth of a millisecond for the longest name. */
const patternsBetweenPauses = 16;

/** The patterns of an ignore file, and a finding for those that are not applied. */
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
      if (pattern !== "excessive" && patterns.length < mostPatterns) patterns.push({ ...pattern, ofGit });
      else if (findings.length === 0) findings.push({ ...notApplied(file, pattern), line: index + 1 });
      if (patterns.length === mostPatterns && findings.length > 0) break;
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
    const message = `only the first ${mostPatterns} patterns of the file are applied`;
    return excessive(file, message, "Ignore whole directories instead of their content.");
  }
  const message = `a pattern exceeds ${longestPattern} characters or ${mostWildcards} wildcards and is not applied`;
  return excessive(file, message, "Shorten it, or split it into several patterns.");
}

function excessive(file: string, message: string, fix: string): Finding {
  return wholeFile("ignore-pattern-excessive", file, message, fix);
}

/** The rule that ignores a directory. Parent directories must have been checked before. */
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
  if (length > longestPattern || wildcards > mostWildcards) return "excessive";
  const names = segments.flatMap((segment, index): (IgnorePattern["names"][number] | undefined)[] => {
    if (segment !== "**" || !anchored) return [toName(collapsed[index] ?? "")];
    // At the end it matches everything inside, but not the directory itself.
    return index === segments.length - 1 ? [toName("*"), anyNames] : [anyNames];
  });
  return names.includes(undefined)
    ? undefined
    : { negated, anchored, names: names.filter((name) => name !== undefined) };
}

/** Whether a pattern matches a directory, given as path segments relative to the ignore file. */
export function matchesIgnorePattern({ anchored, names }: IgnorePattern, path: readonly string[]): boolean {
  return anchored ? matchesPath(names, path) : matchesName(names[0], path.at(-1) ?? "");
}

/** Like a glob with `anyNames` as `*`: only the last one is retried, so nothing is tried twice. */
function matchesPath(names: IgnorePattern["names"], path: readonly string[]): boolean {
  let [at, place] = [0, 0];
  let retry: { readonly at: number; place: number } | undefined;
  while (place < path.length) {
    if (names[at] === anyNames) retry = { at: ++at, place };
    else if (at < names.length && matchesName(names[at], path[place] ?? "")) {
      at++;
      place++;
    } else if (retry !== undefined) {
      at = retry.at;
      place = ++retry.place;
    } else return false;
  }
  while (names[at] === anyNames) at++;
  return at === names.length;
}

function matchesName(name: IgnorePattern["names"][number] | undefined, text: string): boolean {
  if (typeof name !== "object") return name === text;
  const { first, middle, last } = name;
  first.lastIndex = 0;
  if (!first.test(text)) return false;
  let from = first.lastIndex;
  for (const part of [...middle, last]) {
    part.lastIndex = from;
    if (!part.test(text)) return false;
    from = part.lastIndex;
  }
  return from === text.length;
}

/** Undefined if the pattern cannot match, as with an unclosed bracket. */
function toName(segment: string): string | Glob | undefined {
  const parts = [""];
  let literal = "";
  let isLiteral = true;
  for (let index = 0; index < segment.length;) {
    const character = String.fromCodePoint(segment.codePointAt(index) ?? 0);
    index += character.length;
    if (character === "*") {
      isLiteral = false;
      parts.push("");
      continue;
    }
    let source: string | undefined;
    if (character === "?") source = ".";
    else if (character === "[") {
      const set = readSet(segment, index);
      if (set === undefined) return undefined;
      ({ source, end: index } = set);
    } else if (character === "\\") {
      if (index === segment.length) return undefined;
      const escaped = String.fromCodePoint(segment.codePointAt(index) ?? 0);
      index += escaped.length;
      source = escapeCharacter(escaped);
      literal += escaped;
    } else {
      source = escapeCharacter(character);
      literal += character;
    }
    isLiteral &&= character !== "?" && character !== "[";
    parts.push((parts.pop() ?? "") + source);
  }
  if (isLiteral) return literal;
  const [first = "", ...others] = parts;
  const last = others.pop();
  return {
    first: new RegExp(last === undefined ? `${first}$` : first, "suy"),
    middle: others.map((part) => new RegExp(part, "sug")),
    last: new RegExp(`${last ?? ""}$`, "sug"),
  };
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

/** Parses a bracket expression that opens before `start`. */
function readSet(segment: string, start: number): { source: string; end: number } | undefined {
  let index = start;
  const inverted = segment[index] === "!" || segment[index] === "^";
  if (inverted) index++;
  let source = "";
  for (let isFirst = true; isFirst || segment[index] !== "]"; isFirst = false) {
    const named = /^\[:(\w+):\]/.exec(segment.slice(index, index + 12));
    if (named !== null) {
      const characters = characterClasses[named[1] ?? ""];
      if (characters === undefined) return undefined;
      source += characters;
      index += named[0].length;
      continue;
    }
    const low = readMember(segment, index);
    if (low === undefined) return undefined;
    index = low.end;
    const isRange = segment[index] === "-" && segment[index + 1] !== "]";
    const high = isRange ? readMember(segment, index + 1) : low;
    if (high === undefined) return undefined;
    index = high.end;
    // Like in git, a reversed range is its first character.
    source += `${escapePoint(low.point)}-${escapePoint(Math.max(low.point, high.point))}`;
  }
  return { source: `[${inverted ? "^" : ""}${source}]`, end: index + 1 };
}

function readMember(segment: string, index: number): { readonly point: number; readonly end: number } | undefined {
  const at = segment[index] === "\\" ? index + 1 : index;
  const point = segment.codePointAt(at);
  return point === undefined ? undefined : { point, end: at + (point > 0xffff ? 2 : 1) };
}

function escapePoint(point: number): string {
  return `\\u{${point.toString(16)}}`;
}

function escapeCharacter(character: string): string {
  return /[\w]/.test(character) ? character : escapePoint(character.codePointAt(0) ?? 0);
}

/** Repeated `**` are equivalent to one. */
function isNotRepeated(segment: string, index: number, all: readonly string[]): boolean {
  return segment !== "**" || all[index - 1] !== "**";
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
