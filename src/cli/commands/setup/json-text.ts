import {
  type JSONPath,
  type Node,
  type ParseError,
  applyEdits,
  findNodeAtLocation,
  modify,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject } from "../../../base/json/json-value.ts";
import { rangeOf } from "../../../base/json/json-text.ts";
import { SkillsError } from "../../../base/errors.ts";

/**
 * Reads an object. An empty file is an empty object. Throws UNREADABLE, with `line` and `column` among its facts, if the text is not JSON.
 * `lenient` allows comments and commas before a closing bracket.
 */
export function readSettings(text: string, lenient: boolean): Readonly<Record<string, unknown>> {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: lenient, disallowComments: !lenient }) as unknown;
  const [first] = errors;
  if (first !== undefined) throw notJson(text, first.offset, `not JSON (${printParseErrorCode(first.error)})`);
  if (isObject(value)) return value;
  throw notJson(text, parseTree(text)?.offset ?? 0, "an object is expected: { … }");
}

/** The error for a value that has another type than the editor expects. */
export function wrongType(text: string, path: JSONPath, expected: string): SkillsError {
  const tree = parseTree(text);
  const node = tree && findNodeAtLocation(tree, path);
  return notJson(text, node?.offset ?? 0, `${JSON.stringify(path.at(-1))} is not ${expected}`);
}

/**
 * Throws UNREADABLE if one of these keys occurs twice in the settings, or any key occurs twice in their values. Editors read the last of
 * two keys, but a change would be made to the first.
 */
export function refuseTwins(text: string, names: readonly string[]): void {
  const children = parseTree(text)?.children?.filter((property) =>
    names.includes(String(property.children?.[0]?.value)),
  );
  const [twin] = twinsIn({ children: children ?? [] });
  if (twin !== undefined) throw notJson(text, twin.offset, `${JSON.stringify(twin.value)} is here twice; delete one`);
}

/** Keys that occur twice in one object, at their later positions. */
function* twinsIn({ children = [] }: Pick<Node, "children">): Generator<Node, void> {
  const seen = new Set<unknown>();
  for (const child of children) {
    const key = child.type === "property" ? child.children?.[0] : undefined;
    if (key !== undefined && seen.has(key.value)) yield key;
    seen.add(key?.value);
    yield* twinsIn(child);
  }
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
  if (value === undefined) return applyEdits(text, modify(text, path, undefined, {}));
  const root = parseTree(text);
  const node = root && findNodeAtLocation(root, path);
  const [, unit = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const render = (indent: string): string =>
    Array.isArray(value)
      ? `[${value.map((item) => JSON.stringify(item)).join(", ")}]`
      : JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
  if (node !== undefined) return splice(text, node.offset, node.length, render(indentAt(text, node.offset)));
  const [above, key = ""] = [path.slice(0, -1), path.at(-1)];
  const parent = root && (above.length === 0 ? root : findNodeAtLocation(root, above));
  // The enclosing object is missing as well.
  if (parent?.type !== "object") return setValue(text, above, { [key]: value });
  const siblings = parent.children ?? [];
  // `args` stands after `command`.
  const command = key === "args" ? siblings.find((one) => one.children?.[0]?.value === "command") : undefined;
  const previous = command ?? siblings.at(-1);
  const outer = indentAt(text, parent.offset);
  const property = `${eol}${outer}${unit}${JSON.stringify(key)}: ${render(outer + unit)}`;
  if (previous === undefined) return splice(text, parent.offset + 1, 0, `${property}${eol}${outer}`);
  const isOneLine = !text.slice(parent.offset, parent.offset + parent.length).includes("\n");
  const inLine = ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  return splice(text, previous.offset + previous.length, 0, `,${isOneLine ? inLine : property}`);
}

/** The blanks at the start of the line that contains an offset. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset))?.[0] ?? "";
}

function splice(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}
