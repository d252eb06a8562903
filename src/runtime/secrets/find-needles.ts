/** Finds many byte strings at once in a stream (Aho and Corasick, 1975). */
export interface NeedleFinder {
  /** Reads one byte. Returns the length of the longest needle that ends here, or 0. */
  step(byte: number): number;
  /** How many of the last bytes could be the start of a needle. */
  readonly begun: number;
}

/** Siblings are a linked list: a long value has thousands of nodes, nearly all with one child. */
interface Node {
  readonly byte: number;
  readonly depth: number;
  readonly sibling: Node | undefined;
  child: Node | undefined;
  /** The suffix link. */
  shorter: Node | undefined;
  longestEnd: number;
}

/** The automaton. */
export interface Needles {
  readonly root: Node;
  /** The children of the root by byte, for speed. */
  readonly first: readonly (Node | undefined)[];
  /** Bytes of the shortest. */
  readonly shortest: number;
  /** The next position of a byte that a needle starts with, or the length. */
  readonly nextStart: (bytes: Uint8Array, from: number) => number;
}

/** None may be empty. */
export function prepareNeedles(needles: readonly Uint8Array[]): Needles {
  const root = toNode(0, 0, undefined, undefined);
  for (const needle of needles) {
    let node = root;
    for (const byte of needle) node = childOf(node, byte) ?? addChild(node, byte, root);
    node.longestEnd = needle.length;
  }
  const first = Array.from({ length: 256 }, (_unused, byte) => childOf(root, byte));
  const starts = Uint8Array.from(first, (node) => (node === undefined ? 0 : 1));
  const nextStart = (bytes: Uint8Array, from: number): number => {
    let at = from;
    while (at < bytes.length && starts[bytes[at] ?? 0] === 0) at += 1;
    return at;
  };
  const all = {
    root,
    first,
    nextStart,
    shortest: needles.reduce((shortest, { length }) => Math.min(shortest, length), Infinity),
  };
  linkSuffixes(all);
  return all;
}

function toNode(byte: number, depth: number, sibling: Node | undefined, shorter: Node | undefined): Node {
  return { byte, depth, sibling, child: undefined, shorter, longestEnd: 0 };
}

function addChild(node: Node, byte: number, root: Node): Node {
  node.child = toNode(byte, node.depth + 1, node.child, root);
  return node.child;
}

function childOf(node: Node, byte: number): Node | undefined {
  let child = node.child;
  while (child !== undefined && child.byte !== byte) child = child.sibling;
  return child;
}

/** Breadth first, so that shorter suffixes are linked first. */
function linkSuffixes(needles: Needles): void {
  const { root } = needles;
  const queue = [root];
  for (const node of queue) {
    for (let child = node.child; child !== undefined; child = child.sibling) {
      child.shorter = node === root ? root : follow(needles, node.shorter ?? root, child.byte);
      child.longestEnd ||= child.shorter.longestEnd;
      queue.push(child);
    }
  }
}

/** The node of the longest suffix that continues with this byte. */
function follow({ root, first }: Needles, node: Node, byte: number): Node {
  for (let at = node; at !== root; at = at.shorter ?? root) {
    const child = childOf(at, byte);
    if (child !== undefined) return child;
  }
  return first[byte] ?? root;
}

export function findNeedles(needles: Needles): NeedleFinder {
  let node = needles.root;
  return {
    step(byte) {
      node = follow(needles, node, byte);
      return node.longestEnd;
    },
    get begun() {
      return node.depth;
    },
  };
}
