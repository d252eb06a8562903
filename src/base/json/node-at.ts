import type { JsonNode } from "./json-text.ts";

export type JsonPath = readonly (string | number)[];

/** The value with this path; else the innermost that encloses its place. */
export function nodeAt(root: JsonNode, path: JsonPath): JsonNode {
  let node = root;
  for (const step of path) {
    const inner = childOf(node, step);
    if (inner === undefined) return node;
    node = inner;
  }
  return node;
}

/** The value of a key, of which the last one counts, or of an index. */
export function childOf(node: JsonNode, step: string | number): JsonNode | undefined {
  if (node.type === "object") return node.entries.findLast(({ key }) => key === step)?.node;
  return node.type === "array" ? node.items[Number(step)] : undefined;
}

/** Keys that occur twice in one object, at their later places. */
export function* repeatedKeys(
  node: JsonNode,
): Generator<{ readonly key: string; readonly offset: number; readonly end: number }, void> {
  // prettier-ignore
  if (node.type === "array") for (const item of node.items) yield* repeatedKeys(item);
  if (node.type !== "object") return;
  const seen = new Set<string>();
  for (const entry of node.entries) {
    if (seen.has(entry.key)) yield entry;
    seen.add(entry.key);
    yield* repeatedKeys(entry.node);
  }
}
