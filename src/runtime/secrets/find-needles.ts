/** Finds many byte strings at once in a stream (Aho and Corasick, 1975). */
export interface NeedleFinder {
  /** Reads one byte. Returns the length of the longest needle that ends here, or 0. */
  step(byte: number): number;
  /** How many of the last bytes could be the start of a needle. */
  readonly begun: number;
}

/** A node of the automaton. Siblings are a linked list: a long value has thousands of nodes, nearly all with one child. */
interface Node {
  readonly byte: number;
  readonly depth: number;
  readonly sibling: Node | undefined;
  child: Node | undefined;
  /** The suffix link. */
  shorter: Node | undefined;
  maxEnd: number;
}

/** The automaton for all needles. */
export interface Needles {
  readonly root: Node;
  /** The children of the root by byte, for speed. */
  readonly first: readonly (Node | undefined)[];
  /** Length of the shortest needle, in bytes. */
  readonly minLength: number;
  /** The next position of a byte that a needle starts with, or the length. */
  readonly nextStart: (bytes: Uint8Array, from: number) => number;
}

/** Builds the automaton. No needle may be empty. */
export function prepareNeedles(needles: readonly Uint8Array[]): Needles {
  const root = toNode(0, 0, undefined, undefined);
  for (const needle of needles) {
    let node = root;
    for (const byte of needle) node = childOf(node, byte) ?? addChild(node, byte, root);
    node.maxEnd = needle.length;
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
    minLength: needles.reduce((min, { length }) => Math.min(min, length), Infinity),
  };
  linkSuffixes(all);
  return all;
}

function toNode(byte: number, depth: number, sibling: Node | undefined, shorter: Node | undefined): Node {
  return { byte, depth, sibling, child: undefined, shorter, maxEnd: 0 };
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

/** Sets the suffix links breadth first, so that shorter suffixes are linked first. */
function linkSuffixes(needles: Needles): void {
  const { root } = needles;
  const queue = [root];
  for (const node of queue) {
    for (let child = node.child; child !== undefined; child = child.sibling) {
      child.shorter = node === root ? root : follow(needles, node.shorter ?? root, child.byte);
      child.maxEnd ||= child.shorter.maxEnd;
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
      return node.maxEnd;
    },
    get begun() {
      return node.depth;
    },
  };
}

/** Shorter pieces of an encoded value would match unrelated text. */
const minPartLength = 5;
const minLineLength = 8;
const minHostLength = 8;

/**
 * All byte strings as which a program may print a value by accident: unchanged, and each long line of it. Also escaped or encoded for JSON,
 * Python, CSV, shells, HTML, URLs, host names, hexadecimal and base64 (there also inside longer data). A hostile program can encode a value
 * in other ways: masking prevents accidents only.
 */
export function toSecretForms(value: string): Uint8Array[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [
    value,
    ...lines.filter((line) => line.length >= minLineLength),
    ...jsonForms(value),
    ...pythonForms(value),
    ...quotedForms(value),
    ...htmlForms(value),
    // Host names are lower-cased. Short values are left out, because they could be words.
    ...(value.length >= minHostLength && /^[a-z0-9._-]+$/i.test(value) ? [value.toLowerCase()] : []),
    ...urlForms(value),
    ...base64Forms(Buffer.from(value)),
    ...hexForms(Buffer.from(value)),
  ];
  return [...new Set(texts)].filter((text) => text !== "").map((text) => Buffer.from(text));
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, "0");
  // Lower case as in Python; other languages use upper case.
  const lower = plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${hex(unit)}`);
  const upper = plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${hex(unit).toUpperCase()}`);
  const python = plain.replaceAll('\\"', '"');
  return [plain, lower, upper, plain.replaceAll("/", "\\/"), python, python.replaceAll("'", "\\'")];
}

/** The forms of `repr(str)`, `ascii(str)` and `repr(bytes)`, with either kind of quotes. */
function pythonForms(value: string): string[] {
  const short = new Map(Object.entries({ "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }));
  const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
  const escape = (code: number): string =>
    code < 0x100 ? `\\x${hex(code, 2)}` : code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  const written = (text: string, shown: RegExp): string =>
    Array.from(text, (unit) => short.get(unit) ?? (shown.test(unit) ? unit : escape(unit.codePointAt(0) ?? 0))).join(
      "",
    );
  const bytes = Buffer.from(value).toString("latin1");
  const texts = [written(value, /[^\0-\x1f\x7f-\xa0\xad]/), written(value, /[ -~]/), written(bytes, /[ -~]/)];
  return texts.flatMap((text) => [text, text.replaceAll("'", "\\'"), text.replaceAll('"', '\\"')]);
}

/** The forms with quotes doubled (CSV, SQL, YAML) or escaped for shells. */
function quotedForms(value: string): string[] {
  const ofShells = [`'"'"'`, `'\\''`].map((quote) => value.replaceAll("'", quote));
  return [value.replaceAll('"', '""'), value.replaceAll("'", "''"), ...ofShells];
}

/** The forms with the different escapes of quotes. */
function htmlForms(value: string): string[] {
  const plain = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const double = ['"', "&quot;", "&#34;", "&#x22;"].map((quote) => plain.replaceAll('"', quote));
  return ["'", "&#x27;", "&#39;", "&apos;"].flatMap((quote) => double.map((text) => text.replaceAll("'", quote)));
}

/** The forms in URLs: encoders differ in `/` and `!'()*`, in `+` for a space, and in the case of the digits. */
function urlForms(value: string): string[] {
  const component = encodeURIComponent(Buffer.from(value).toString());
  const strict = component.replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const spared = [component, strict].flatMap((text) => [text, text.replaceAll("%2F", "/")]);
  const spaced = spared.flatMap((text) => [text, text.replaceAll("%20", "+")]);
  return spaced.flatMap((text) => [text, text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/** The whole value, and its invariant section inside longer data, for each of three alignments. */
function base64Forms(value: Buffer): string[] {
  const whole = value.toString("base64");
  const parts = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), value]).toString("base64");
    const from = Math.ceil((before * 8) / 6);
    return encoded.slice(from, Math.floor(((before + value.length) * 8) / 6));
  });
  const standard = [whole, whole.replace(/=+$/, ""), ...parts.filter((part) => part.length >= minPartLength)];
  return standard.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}

function hexForms(value: Buffer): string[] {
  const digits = value.toString("hex");
  return [digits, digits.toUpperCase()];
}
