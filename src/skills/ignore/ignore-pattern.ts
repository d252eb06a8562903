/** One line of an ignore file, as git reads it, to be asked about directories. */
export interface IgnorePattern {
  /** Whether it takes back what an earlier pattern ignores. */
  readonly negated: boolean;
  /** Whether it is about the path from the file's directory on, or about the directory's own name anywhere below. */
  readonly anchored: boolean;
  /** One entry a name on the path; a string stands for itself, `anyNames` for any number of names. */
  readonly names: readonly (string | Glob | typeof anyNames)[];
}

/** Parts with `*` between them: each part has a fixed length, so matching never backtracks. */
interface Glob {
  readonly first: RegExp;
  readonly middle: readonly RegExp[];
  readonly last: RegExp;
}

const anyNames: unique symbol = Symbol("**");

/** A pattern beyond these is not applied: matching takes time in proportion to its length. */
const longestPattern = 512;
const mostWildcards = 32;

/** A line of an ignore file; undefined where it says nothing, "excessive" where it is too long or has too many wildcards. */
export function parseIgnorePattern(line: string): IgnorePattern | "excessive" | undefined {
  let text = withoutTrailingBlanks(line.endsWith("\r") ? line.slice(0, -1) : line);
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  // Only directories are asked about, so that a slash at the end says nothing more.
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
    // At the end it stands for everything inside, but not for the directory itself.
    return index === segments.length - 1 ? [toName("*"), anyNames] : [anyNames];
  });
  return names.includes(undefined)
    ? undefined
    : { negated, anchored, names: names.filter((name) => name !== undefined) };
}

/** Whether a pattern is about a directory: its path below the ignore file, as names. */
export function matchesIgnorePattern({ anchored, names }: IgnorePattern, path: readonly string[]): boolean {
  return anchored ? matchesPath(names, path) : matchesName(names[0], path.at(-1) ?? "");
}

/** With `anyNames` where a glob has `*`: what follows the last one met is tried ever further on, so nothing is tried twice. */
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

/** Undefined where the pattern can match nothing, as with a bracket that is never closed. */
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

/** The set whose opening bracket is before `start`. */
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
    // As git has it, a range that runs backwards is its first character.
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

/** Neighbouring `**` mean what one of them means. */
function isNotRepeated(segment: string, index: number, all: readonly string[]): boolean {
  return segment !== "**" || all[index - 1] !== "**";
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
