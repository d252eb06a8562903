/** Where a text stops being JSON, and what could stand there. Lines and columns count from 1. */
export interface JsonInputFault {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

/** Parses what a person typed. Browsers name the place of an error differently, or not at all. */
export function parseJsonInput(text: string): { readonly value: unknown } | { readonly fault: JsonInputFault } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const { offset, expected } = findFault(text);
    const before = text.slice(0, offset).split("\n");
    return { fault: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, expected } };
  }
}

const blank = /[ \t\n\r]*/y;
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

type Expecting = "value" | "value or ]" | "key" | "key or }" | ":" | "next";

/** Not recursive: the text may be nested deeply. */
function findFault(text: string): { readonly offset: number; readonly expected: string } {
  const open: ("[" | "{")[] = [];
  let expecting: Expecting = "value";
  let offset = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = offset;
    const found = pattern.exec(text);
    offset += found?.[0].length ?? 0;
    return found !== null;
  };
  for (;;) {
    skip(blank);
    const character = text[offset] ?? "";
    const inside = open.at(-1);
    const closes = inside === "[" ? "]" : "}";
    const mayClose = expecting === "value or ]" || expecting === "key or }" || expecting === "next";
    if (inside !== undefined && character === closes && mayClose) {
      open.pop();
      offset += 1;
      expecting = "next";
    } else if (expecting === "next") {
      if (inside === undefined) return { offset, expected: "nothing more" };
      if (character !== ",") return { offset, expected: `a comma or ${closes}` };
      offset += 1;
      expecting = inside === "[" ? "value" : "key";
    } else if (expecting === ":") {
      if (character !== ":") return { offset, expected: "a colon" };
      offset += 1;
      expecting = "value";
    } else if (expecting === "key" || expecting === "key or }") {
      if (!skip(string)) return { offset, expected: expecting === "key" ? "a key in quotes" : "a key in quotes or }" };
      expecting = ":";
    } else if (character === "[" || character === "{") {
      open.push(character);
      offset += 1;
      expecting = character === "[" ? "value or ]" : "key or }";
    } else if (skip(string) || skip(scalar)) expecting = "next";
    else return { offset, expected: expecting === "value" ? "a value" : "a value or ]" };
  }
}
