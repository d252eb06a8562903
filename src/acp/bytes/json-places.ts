/** Finds values in a JSON text. Nothing here recurses, because nesting may be arbitrarily deep. */

export interface Place {
  readonly from: number;
  /** Just behind the value. */
  readonly to: number;
}

/** The values directly inside an object or array, in order. */
export type Container =
  | { readonly kind: "array"; readonly from: number; readonly items: readonly Place[] }
  | {
      readonly kind: "object";
      readonly from: number;
      readonly items: readonly (Place & { readonly key: unknown })[];
    };

/** The place of the whole value of a text. */
export function wholePlace(text: string): Place {
  const from = skipBlanks(text, 0);
  return { from, to: endOfValue(text, from) };
}

/** The object or array that begins at `from`; undefined if it is neither. */
export function readContainer(text: string, from: number): Container | undefined {
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
