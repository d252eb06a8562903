/** The first place, from `start`, of one of some texts; -1 if there is none. */
export type FindTexts = (block: Buffer, start: number) => number;

const underscore = 95;

/** A text, and where its first underscore is. */
interface Anchored {
  readonly bytes: Buffer;
  readonly anchor: number;
}

/**
 * Texts with an underscore are found in one pass, however many they are, because underscores are rare in messages. Each of the others
 * takes a pass.
 */
export function openFindTexts(texts: readonly string[]): FindTexts {
  const plain = texts.filter((text) => !text.includes("_")).map((text) => Buffer.from(text));
  /** By the byte behind the underscore. */
  const anchored = new Map<number, Anchored[]>();
  for (const text of texts.filter((other) => other.includes("_"))) {
    const bytes = Buffer.from(text);
    const anchor = bytes.indexOf(underscore);
    const next = bytes[anchor + 1];
    if (next === undefined) throw new Error(`${text} ends with its underscore.`);
    anchored.set(next, [...(anchored.get(next) ?? []), { bytes, anchor }]);
  }

  function firstPlain(block: Buffer, start: number): number {
    let first = -1;
    for (const bytes of plain) {
      const found = block.indexOf(bytes, start);
      if (found !== -1 && (first === -1 || found < first)) first = found;
    }
    return first;
  }

  return (block, start) => {
    const before = firstPlain(block, start);
    if (anchored.size === 0) return before;
    for (let at = block.indexOf(underscore, start); at !== -1; at = block.indexOf(underscore, at + 1)) {
      if (before !== -1 && at > before) return before;
      for (const { bytes, anchor } of anchored.get(block[at + 1] ?? 0) ?? [])
        if (at - anchor >= start && standsAt(block, at - anchor, bytes)) return at - anchor;
    }
    return before;
  };
}

function standsAt(block: Buffer, from: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index++) if (block[from + index] !== bytes[index]) return false;
  return true;
}
