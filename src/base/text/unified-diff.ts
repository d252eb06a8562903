/** Lines of context around a change. */
const context = 3;
/** If two texts have more differences, all lines between their common beginning and end are shown as replaced. */
const mostEdits = 500;

type Edit = readonly [sign: " " | "-" | "+", line: string];

/** How two texts differ, as lines of a unified diff without its two headings; at most `mostLines`, with the number of the others. */
export function unifiedDiff(before: string, after: string, mostLines: number): readonly string[] {
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
    // One by one: there are more lines than a call takes arguments.
    for (const [sign, line] of hunk) lines.push(sign + line);
    [old, now, at] = [oldStart + olds, nowStart + news, end];
  }
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines), `… and ${lines.length - mostLines} more lines`];
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

/** The last line ends with the text, or with a line end. */
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
  const least = Math.min(before.length, after.length) - head;
  while (tail < least && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (line: string): Edit => [" ", line];
  const [olds, news] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const middle = shortestEdits(olds, news) ?? [
    ...olds.map((line): Edit => ["-", line]),
    ...news.map((line): Edit => ["+", line]),
  ];
  return [...before.slice(0, head).map(same), ...middle, ...before.slice(before.length - tail).map(same)];
}

/** Myers' greedy algorithm; undefined if it takes too many edits. Time and space are bounded by the square of that number. */
function shortestEdits(before: readonly string[], after: readonly string[]): readonly Edit[] | undefined {
  const most = Math.min(mostEdits, before.length + after.length);
  const rows: Int32Array[] = [];
  let reach = new Int32Array(2 * most + 3);
  for (let edits = 0; edits <= most; edits++) {
    for (let k = -edits; k <= edits; k += 2) {
      const at = k + most + 1;
      const isDown = k === -edits || (k !== edits && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
      let x = isDown ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1;
      reach[at] = x;
      if (x >= before.length && x - k >= after.length) return backtrack(before, after, [...rows, reach], most);
    }
    rows.push(reach);
    reach = reach.slice();
  }
  return undefined;
}

function backtrack(
  before: readonly string[],
  after: readonly string[],
  rows: readonly Int32Array[],
  most: number,
): readonly Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let depth = rows.length - 1; depth > 0; depth--) {
    const reach = rows[depth - 1] ?? new Int32Array();
    const at = x - y + most + 1;
    const isDown = x - y === -depth || (x - y !== depth && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
    const fromX = isDown ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0);
    const fromY = fromX - (x - y + (isDown ? 1 : -1));
    const [startX, startY] = isDown ? [fromX, fromY + 1] : [fromX + 1, fromY];
    while (x > startX && y > startY) {
      x -= 1;
      y -= 1;
      edits.push([" ", before[x] ?? ""]);
    }
    edits.push(isDown ? ["+", after[fromY] ?? ""] : ["-", before[fromX] ?? ""]);
    [x, y] = [fromX, fromY];
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    edits.push([" ", before[x] ?? ""]);
  }
  return edits.reverse();
}
