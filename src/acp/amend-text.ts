import { type Node, parseTree } from "jsonc-parser";
import { type Amendment, notThere, type Path } from "./amend.ts";

interface Edit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/**
 * Applies amendments to the text of a message: everything that is not amended keeps its exact spelling, so that integers
 * above 2^53 survive. Amendments must not overlap. Throws where a path leads nowhere.
 */
export function amendText(text: string, amendments: readonly Amendment[]): string {
  const root = parseTree(text);
  if (root === undefined) throw new SyntaxError("not JSON");
  const edits = amendments.map((amendment) => toEdit(root, amendment)).sort((a, b) => a.offset - b.offset);
  const parts: string[] = [];
  let copied = 0;
  for (const { offset, length, text: replacement } of edits) {
    parts.push(text.slice(copied, offset), replacement);
    copied = offset + length;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

function toEdit(root: Node, amendment: Amendment): Edit {
  const { path } = amendment;
  const key = path.at(-1);
  const node = findNode(root, path);
  if ("value" in amendment) {
    const text = JSON.stringify(amendment.value);
    if (node !== undefined) return { offset: node.offset, length: node.length, text };
    const parent = findNode(root, path.slice(0, -1));
    if (parent?.type !== "object" || key === undefined) throw notThere(path);
    return insertLast(parent, `${JSON.stringify(key)}:${text}`);
  }
  if (node?.type !== "array") throw notThere(path);
  return spliceItems(node, amendment);
}

function spliceItems(
  array: Node,
  { at, remove, insert }: { at: number; remove: number; insert: readonly unknown[] },
): Edit {
  const items = array.children ?? [];
  const texts = insert.map((item) => JSON.stringify(item)).join(",");
  const first = items[at];
  const last = items[at + remove - 1];
  if (remove > 0) {
    if (first === undefined || last === undefined || insert.length === 0) throw new RangeError("nothing to replace");
    return { offset: first.offset, length: last.offset + last.length - first.offset, text: texts };
  }
  if (insert.length === 0) return { offset: array.offset, length: 0, text: "" };
  if (first !== undefined) return { offset: first.offset, length: 0, text: `${texts},` };
  return insertLast(array, texts);
}

function insertLast(container: Node, text: string): Edit {
  const last = container.children?.at(-1);
  if (last === undefined) return { offset: container.offset + 1, length: 0, text };
  return { offset: last.offset + last.length, length: 0, text: `,${text}` };
}

/** Follows a path; of a key that stands twice the last counts, as in JSON.parse. */
function findNode(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) {
    if (node?.type === "array" && typeof key === "number") node = node.children?.[key];
    else if (node?.type === "object")
      node = node.children?.findLast((property) => property.children?.[0]?.value === key)?.children?.[1];
    else return undefined;
  }
  return node;
}
