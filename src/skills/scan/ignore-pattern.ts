/** One line of an ignore file with git's semantics, for directories only. */
export interface IgnorePattern {
  /** Whether it re-includes what an earlier pattern ignores. */
  readonly negated: boolean;
  /** Whether it matches the path relative to the ignore file, rather than a name at any depth. */
  readonly anchored: boolean;
  /** One per path segment; a string matches itself, `anyNames` any number of segments. */
  readonly names: readonly (string | Glob | typeof anyNames)[];
}

/** Parts separated by `*`: each has a fixed length, so matching never backtracks. */
interface Glob {
  readonly first: RegExp;
  readonly middle: readonly RegExp[];
  readonly last: RegExp;
}

const anyNames: unique symbol = Symbol("**");

/** Longer patterns are not applied, because matching time grows with length. */
const longestPattern = 512;
const mostWildcards = 32;

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
