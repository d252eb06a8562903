/** Lines of context around a change. */
const context = 3;
/** The maximum number of compared pairs of lines. Beyond it, all lines between common beginning and end are shown as replaced. */
const maxComparedPairs = 4_000_000;

type Edit = readonly [sign: " " | "-" | "+", line: string];

/** The differences of two texts as a unified diff without its two headings: at most `maxLines` lines, then the number of the others. */
export function unifiedDiff(before: string, after: string, maxLines: number): readonly string[] {
  const edits = editsOf(toLines(before), toLines(after));
  const lines: string[] = [];
  let [old, now] = [1, 1];
  for (let at = 0; at < edits.length;) {
    if (edits[at]?.[0] === " ") {
      at += 1;
      old += 1;
      now += 1;
      continue;
    }
    const start = Math.max(0, at - context);
    const end = endOfHunk(edits, at);
    const hunk = edits.slice(start, end);
    const [oldStart, nowStart] = [old - (at - start), now - (at - start)];
    const olds = hunk.filter(([sign]) => sign !== "+").length;
    const news = hunk.filter(([sign]) => sign !== "-").length;
    lines.push(`@@ -${rangeOf(oldStart, olds)} +${rangeOf(nowStart, news)} @@`);
    // Pushed one by one: a call takes only a limited number of arguments.
    for (const [sign, line] of hunk) lines.push(sign + line);
    [old, now, at] = [oldStart + olds, nowStart + news, end];
  }
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), `… and ${lines.length - maxLines} more lines`];
}

/** Changes with at most twice the context between them are one hunk. */
function endOfHunk(edits: readonly Edit[], start: number): number {
  let last = start;
  for (let at = start; at < edits.length && at - last <= 2 * context; at++) if (edits[at]?.[0] !== " ") last = at;
  return Math.min(edits.length, last + 1 + context);
}

function rangeOf(start: number, count: number): string {
  if (count === 0) return `${start - 1},0`;
  return count === 1 ? String(start) : `${start},${count}`;
}

/** Splits a text into lines. The last line ends with the text, or with a line break. */
function toLines(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines.push("\\ No newline at end of file");
  return lines;
}

function editsOf(before: readonly string[], after: readonly string[]): readonly Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const maxTail = Math.min(before.length, after.length) - head;
  while (tail < maxTail && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (line: string): Edit => [" ", line];
  const [olds, news] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const middle = shortestEdits(olds, news) ?? [
    ...olds.map((line): Edit => ["-", line]),
    ...news.map((line): Edit => ["+", line]),
  ];
  return [...before.slice(0, head).map(same), ...middle, ...before.slice(before.length - tail).map(same)];
}

/** The shortest edits, by the longest common subsequence; undefined if comparing takes too long. */
function shortestEdits(before: readonly string[], after: readonly string[]): readonly Edit[] | undefined {
  const width = after.length + 1;
  if ((before.length + 1) * width > maxComparedPairs) return undefined;
  /** The number of lines that both texts have in common from these two lines on. */
  const common = new Uint16Array((before.length + 1) * width);
  const commonFrom = (x: number, y: number): number => common[x * width + y] ?? 0;
  for (let x = before.length - 1; x >= 0; x--)
    for (let y = after.length - 1; y >= 0; y--)
      common[x * width + y] =
        before[x] === after[y] ? commonFrom(x + 1, y + 1) + 1 : Math.max(commonFrom(x + 1, y), commonFrom(x, y + 1));
  const edits: Edit[] = [];
  let [x, y] = [0, 0];
  while (x < before.length || y < after.length) {
    const [old, now] = [before[x], after[y]];
    const isOld = old !== undefined && (now === undefined || commonFrom(x + 1, y) >= commonFrom(x, y + 1));
    if (old !== undefined && old === now) edits.push([" ", old]);
    else edits.push(isOld ? ["-", old] : ["+", now ?? ""]);
    if (old === now || isOld) x += 1;
    if (old === now || !isOld) y += 1;
  }
  return edits;
}
