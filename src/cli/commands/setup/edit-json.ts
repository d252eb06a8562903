import { type JSONPath, type Node, applyEdits, findNodeAtLocation, modify, parseTree } from "jsonc-parser";

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
