/** One top-level `key: …` of a mapping, with the lines that belong to it. Offsets are of the whole text. */
export interface YamlBlock {
  readonly start: number;
  readonly end: number;
  /** The key; undefined for lines that belong to no key. */
  readonly key: string | undefined;
  /** Where the value's text starts: after the colon and the blanks behind it. */
  readonly value: number;
}

const keyLine = /^(?:"([^"\\\n]+)"|'([^'\n]+)'|([^\s#"'[\]{},&*!|>%@`?:-][^\n:]*?|-[^\s:][^\n:]*?))[ \t]*:(?:[ \t]+|$)/;

/** Cuts the text of a mapping into its top-level keys, by indentation alone: it works on broken YAML too. */
export function splitYamlBlocks(text: string): YamlBlock[] {
  const blocks: YamlBlock[] = [];
  let open: { start: number; key: string | undefined; value: number } | undefined;
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf("\n", start);
    const next = feed < 0 ? text.length : feed + 1;
    const line = text.slice(start, next).replace(/\r?\n?$/, "");
    if (!/^(?:[ \t]|#|[\]}]|-[ \t]|-?$)/.test(line) || open === undefined) {
      const match = keyLine.exec(line);
      const key = match?.[1] ?? match?.[2] ?? match?.[3];
      const belongsNowhere = key === undefined && (/^(?:#|[ \t]*$)/.test(line) || open?.key === undefined);
      if (!belongsNowhere || (open === undefined && !/^(?:#|[ \t]*$)/.test(line))) {
        if (open !== undefined) blocks.push({ ...open, end: start });
        open = { start, key, value: start + (match?.[0].length ?? 0) };
      }
    }
    start = next;
  }
  if (open !== undefined) blocks.push({ ...open, end: text.length });
  return blocks;
}
