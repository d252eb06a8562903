import {
  type JSONPath,
  type Node,
  type ParseError,
  findNodeAtLocation,
  parse,
  parseTree,
  printParseErrorCode,
  applyEdits,
  modify,
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

/** One value of a file to be set; undefined removes its key. */
export interface JsonChange {
  readonly path: JSONPath;
  readonly value: unknown;
}

/**
 * Applies changes in the format of the file. Only the text of these values changes: jsonc-parser's own formatting would also rewrite
 * their neighbours.
 */
export function editJson(text: string, changes: readonly JsonChange[]): string {
  if (changes.length === 0) return text;
  const start = parseTree(text) === undefined ? `${text}{}\n` : text;
  return changes.reduce((edited, { path, value }) => setValue(edited, path, value), start);
}

function setValue(text: string, path: JSONPath, value: unknown): string {
  const root = parseTree(text);
  if (root === undefined) return text;
  const node = findNodeAtLocation(root, path);
  if (value === undefined) return node === undefined ? text : applyEdits(text, modify(text, path, undefined, {}));
  const format = formatOf(text);
  if (node !== undefined)
    return splice(text, node.offset, node.length, render(value, indentAt(text, node.offset), format));
  const above = path.slice(0, -1);
  const key = path.at(-1) ?? "";
  const parent = above.length === 0 ? root : findNodeAtLocation(root, above);
  // What encloses it is missing as well.
  if (parent?.type !== "object") return setValue(text, above, { [key]: value });
  return insert(text, { parent, key: String(key), value, format });
}

interface Format {
  readonly unit: string;
  readonly eol: string;
}

interface Insertion {
  readonly parent: Node;
  readonly key: string;
  readonly value: unknown;
  readonly format: Format;
}

function insert(text: string, { parent, key, value, format }: Insertion): string {
  const siblings = parent.children ?? [];
  // Arguments stand after the command.
  const command = key === "args" ? siblings.find((one) => one.children?.[0]?.value === "command") : undefined;
  const previous = command ?? siblings.at(-1);
  const outer = indentAt(text, parent.offset);
  const property = (indent: string): string => `${JSON.stringify(key)}: ${render(value, indent, format)}`;
  if (previous === undefined) {
    const indent = outer + format.unit;
    return splice(text, parent.offset + 1, 0, `${format.eol}${indent}${property(indent)}${format.eol}${outer}`);
  }
  const end = previous.offset + previous.length;
  const isOneLine = !text.slice(parent.offset, parent.offset + parent.length).includes("\n");
  if (isOneLine) return splice(text, end, 0, `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const indent = outer + format.unit;
  return splice(text, end, 0, `,${format.eol}${indent}${property(indent)}`);
}

/** JSON of several lines; lists of plain values stay on one. */
function render(value: unknown, indent: string, format: Format): string {
  if (Array.isArray(value)) return `[${value.map((item) => render(item, indent, format)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + format.unit;
  const given = Object.entries(value).filter(([, one]) => one !== undefined);
  const lines = given.map(([key, one]) => `${inner}${JSON.stringify(key)}: ${render(one, inner, format)}`);
  return lines.length === 0 ? "{}" : ["{", lines.join(`,${format.eol}`), `${indent}}`].join(format.eol);
}

/** The blanks at the start of the line of a place. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function formatOf(text: string): Format {
  const [, unit = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return { unit, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

function splice(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}
