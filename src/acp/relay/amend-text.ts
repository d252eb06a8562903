import { type Amendment, type Items, notThere, type Path } from "../messages/amend.ts";

interface Edit extends Place {
  readonly text: string;
}

/**
 * Applies amendments to the JSON text of a message: everything else keeps its exact bytes, so that integers above 2^53 survive.
 * Amendments must not overlap. Throws if a path does not exist.
 */
export function amendText(text: string, amendments: readonly Amendment[]): string {
  const find = openFinder(text);
  const edits = amendments.map((amendment) => toEdit(find, amendment)).sort((a, b) => a.from - b.from);
  const parts: string[] = [];
  let copied = 0;
  for (const { from, to, text: replacement } of edits) {
    parts.push(text.slice(copied, from), replacement);
    copied = to;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** Follows paths. */
interface Finder {
  /** The place of a value; of duplicate keys the last counts, as in JSON.parse. */
  readonly place: (path: Path) => Place | undefined;
  readonly container: (path: Path) => Container | undefined;
}

/** Each container is read once, however many paths lead through it. */
function openFinder(text: string): Finder {
  const whole = wholePlace(text);
  const containers = new Map<number, Container | undefined>();

  function containerAt({ from }: Place): Container | undefined {
    if (!containers.has(from)) containers.set(from, readContainer(text, from));
    return containers.get(from);
  }
  function place(path: Path): Place | undefined {
    let found: Place | undefined = whole;
    for (const key of path) {
      if (found === undefined) return undefined;
      const container = containerAt(found);
      if (container?.kind === "object") found = container.items.findLast((item) => item.key === key);
      else found = typeof key === "number" ? container?.items[key] : undefined;
    }
    return found;
  }
  return {
    place,
    container(path) {
      const found = place(path);
      return found && containerAt(found);
    },
  };
}

function toEdit(find: Finder, amendment: Amendment): Edit {
  const { path } = amendment;
  const key = path.at(-1);
  if ("value" in amendment) {
    const text = JSON.stringify(amendment.value);
    const place = find.place(path);
    if (place !== undefined) return { ...place, text };
    const parent = find.container(path.slice(0, -1));
    if (parent?.kind !== "object" || key === undefined) throw notThere(path);
    return insertLast(parent, `${JSON.stringify(key)}:${text}`);
  }
  const list = find.container(path);
  if (list?.kind !== "array") throw notThere(path);
  return spliceItems(list, amendment);
}

function spliceItems(list: Container, { at, remove, insert }: { at: number; remove: number; insert: Items }): Edit {
  const texts = toTexts(insert);
  const first = list.items[at];
  const last = list.items[at + remove - 1];
  if (remove > 0) {
    if (first === undefined || last === undefined || texts === "") throw new RangeError("nothing to replace");
    return { from: first.from, to: last.to, text: texts };
  }
  if (texts === "") return { from: list.from, to: list.from, text: "" };
  if (first !== undefined) return { from: first.from, to: first.from, text: `${texts},` };
  return insertLast(list, texts);
}

function toTexts(items: Items): string {
  return "json" in items ? Buffer.from(items.json).toString() : items.map((item) => JSON.stringify(item)).join(",");
}

function insertLast({ from, items }: Container, text: string): Edit {
  const last = items.at(-1);
  if (last === undefined) return { from: from + 1, to: from + 1, text };
  return { from: last.to, to: last.to, text: `,${text}` };
}

/** Finds values in a JSON text. Nothing here recurses, because nesting may be arbitrarily deep. */

interface Place {
  readonly from: number;
  /** Just behind the value. */
  readonly to: number;
}

/** The values directly inside an object or array, in order. */
type Container =
  | { readonly kind: "array"; readonly from: number; readonly items: readonly Place[] }
  | {
      readonly kind: "object";
      readonly from: number;
      readonly items: readonly (Place & { readonly key: unknown })[];
    };

/** The place of the whole value of a text. */
function wholePlace(text: string): Place {
  const from = skipBlanks(text, 0);
  return { from, to: endOfValue(text, from) };
}

/** The object or array that begins at `from`; undefined if it is neither. */
function readContainer(text: string, from: number): Container | undefined {
  switch (characterAt(text, from)) {
    case "{":
      return { kind: "object", from, items: [...readProperties(text, from)] };
    case "[":
      return { kind: "array", from, items: [...readItems(text, from)] };
    default:
      return undefined;
  }
}

function* readItems(text: string, open: number): Iterable<Place> {
  for (let from = nextItem(text, open + 1); text[from] !== "]";) {
    const to = endOfValue(text, from);
    yield { from, to };
    from = nextItem(text, to);
  }
}

function* readProperties(text: string, open: number): Iterable<Place & { readonly key: unknown }> {
  for (let at = nextItem(text, open + 1); text[at] !== "}";) {
    const keyEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const from = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const to = endOfValue(text, from);
    yield { from, to, key };
    at = nextItem(text, to);
  }
}

function nextItem(text: string, at: number): number {
  const next = skipBlanks(text, at);
  return text[next] === "," ? skipBlanks(text, next + 1) : next;
}

function skipBlanks(text: string, at: number): number {
  let next = at;
  while (" \t\n\r".includes(characterAt(text, next))) next += 1;
  return next;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    switch (characterAt(text, at)) {
      case '"':
        at = endOfString(text, at);
        break;
      case "{":
      case "[":
        depth += 1;
        at += 1;
        break;
      case "}":
      case "]":
        depth -= 1;
        at += 1;
        break;
      default:
        at = depth === 0 ? endOfLiteral(text, at) : at + 1;
    }
  } while (depth > 0);
  return at;
}

function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError("not JSON");
}

function endOfLiteral(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !" \t\n\r,]}".includes(characterAt(text, at))) at += 1;
  return at;
}

function characterAt(text: string, at: number): string {
  const character = text[at];
  if (character === undefined) throw new SyntaxError("not JSON");
  return character;
}
