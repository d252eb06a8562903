import {
  type JSONPath,
  type Node,
  type ParseError,
  findNodeAtLocation,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject } from "../../../base/json/json-value.ts";
import { parseJsonNode, rangeOf } from "../../../base/json/json-text.ts";
import { SkillsError } from "../../../base/errors.ts";

/**
 * Reads an object. An empty file is an empty object. Throws UNREADABLE, with `line` and `column` among its facts, if the text is not
 * JSON; comments and commas before a closing bracket are allowed where `lenient`.
 */
export function readSettings(text: string, lenient: boolean): Readonly<Record<string, unknown>> {
  const errors: ParseError[] = [];
  if (text.trim() === "") return {};
  const value = parse(text, errors, { allowTrailingComma: true, disallowComments: false }) as unknown;
  const [first] = errors;
  if (!lenient) {
    const strict = parseJsonNode(text);
    if ("fault" in strict) throw notJson(text, strict.fault.offset, strict.fault.message);
  }
  if (first !== undefined)
    throw notJson(text, first.offset, messages[printParseErrorCode(first.error)] ?? "cannot be read");
  if (isObject(value)) return value;
  throw notJson(text, parseTree(text)?.offset ?? 0, "an object is expected: { … }");
}

/** By the names that jsonc-parser has for its codes. */
const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: "not a JSON value",
  InvalidNumberFormat: "not a number",
  PropertyNameExpected: "a key in quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "} is expected",
  CloseBracketExpected: "] is expected",
  EndOfFileExpected: "text after the end of the JSON value",
  UnexpectedEndOfComment: "a comment that does not end",
  UnexpectedEndOfString: "a string that does not end",
};

/** The error for a value that has another type than the editor expects. */
export function wrongType(text: string, path: JSONPath, expected: string): SkillsError {
  const tree = parseTree(text);
  const node = tree && findNodeAtLocation(tree, path);
  return notJson(text, node?.offset ?? 0, `${JSON.stringify(path.at(-1))} is not ${expected}`);
}

/**
 * Throws UNREADABLE if a key is twice in the settings, in one of the objects of these names, or in one of their entries: editors read the
 * last of two, and a change would be made to the first.
 */
export function refuseTwins(text: string, names: readonly string[]): void {
  const holders = valuesIn(text, parseTree(text), names).filter(([name]) => names.includes(name));
  for (const [, holder] of holders) for (const [, entry] of valuesIn(text, holder)) valuesIn(text, entry);
}

/** The properties of an object, or the items of a list. Throws for a key that is there twice, if it is one of `names` or these are absent. */
function valuesIn(
  text: string,
  node: Node | undefined,
  names?: readonly string[],
): readonly (readonly [string, Node])[] {
  const { type, children = [] } = node ?? {};
  if (type === "array") return children.map((item) => ["", item]);
  const found = new Map<string, Node>();
  for (const { children: [key, value] = [] } of type === "object" ? children : []) {
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    if (found.has(name) && names?.includes(name) !== false)
      throw notJson(text, key.offset, `${JSON.stringify(name)} is here twice; delete one`);
    found.set(name, value);
  }
  return [...found];
}

function notJson(text: string, offset: number, message: string): SkillsError {
  const { line, column } = rangeOf(text, { offset, end: offset + 1 });
  return new SkillsError("UNREADABLE", message, { facts: { line, column } });
}
