import { isLineEnd, skipBlanks, yamlKeyAt } from "./yaml-key.ts";

/** One top-level `key: …` of a mapping, with the lines that belong to it. Offsets are of the whole text. */
export interface YamlBlock {
  readonly start: number;
  readonly end: number;
  /** The key; undefined for lines that belong to no key. */
  readonly key: string | undefined;
  /** Where the value's text starts: after the colon and the blanks behind it. */
  readonly value: number;
}

/** Cuts the text of a mapping into its top-level keys, by indentation alone: it works on broken YAML too. At most so many. */
export function splitYamlBlocks(text: string, most = Infinity): YamlBlock[] {
  const blocks: YamlBlock[] = [];
  let open: Omit<YamlBlock, "end"> | undefined;
  for (let start = 0, next = 0; start < text.length; start = next) {
    const feed = text.indexOf("\n", start);
    next = feed < 0 ? text.length : feed + 1;
    if (open !== undefined && goesOn(text, start)) continue;
    const found = yamlKeyAt(text, start);
    if (found === undefined && (saysNothing(text, start) || (open !== undefined && open.key === undefined))) continue;
    if (open !== undefined) blocks.push({ ...open, end: start });
    if (blocks.length >= most) return blocks;
    open = { start, key: found?.key, value: found?.value ?? start };
  }
  if (open !== undefined) blocks.push({ ...open, end: text.length });
  return blocks;
}

/** Whether a line belongs to the key above it, whatever that is. */
function goesOn(text: string, start: number): boolean {
  const first = text.charAt(start);
  if (first === "-") return isLineEnd(text, start + 1) || skipBlanks(text, start + 1) > start + 1;
  return first === "" || " \t#]}\r\n".includes(first);
}

/** Whether a line is blank or a comment. */
function saysNothing(text: string, start: number): boolean {
  return text[start] === "#" || isLineEnd(text, skipBlanks(text, start));
}
