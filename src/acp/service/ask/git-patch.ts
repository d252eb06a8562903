/** Lines of unchanged text around a change. */
const context = 3;

/**
 * A change of one text file as git writes it, in one hunk: from the first line that differs to the last. `before` is undefined for a new
 * file. Linear in the length of the texts, which are not trusted.
 */
export function toGitPatch(path: string, before: string | undefined, after: string): string {
  const [old, now] = [toLines(before ?? ""), toLines(after)];
  const least = Math.min(old.length, now.length);
  let start = 0;
  while (start < least && old[start] === now[start]) start++;
  let end = 0;
  while (end < least - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const from = Math.max(start - context, 0);
  const rest = Math.max(end - context, 0);
  const [oldEnd, nowEnd] = [old.length - rest, now.length - rest];
  const [oldName, nowName] = [quote(`a/${path}`), quote(`b/${path}`)];
  return [
    `diff --git ${oldName} ${nowName}\n`,
    ...(before === undefined ? ["new file mode 100644\n"] : []),
    `--- ${before === undefined ? "/dev/null" : oldName}\n`,
    `+++ ${nowName}\n`,
    `@@ -${rangeOf(from, oldEnd)} +${rangeOf(from, nowEnd)} @@\n`,
    ...old.slice(from, start).map((line) => toPatchLine(" ", line)),
    ...old.slice(start, old.length - end).map((line) => toPatchLine("-", line)),
    ...now.slice(start, now.length - end).map((line) => toPatchLine("+", line)),
    ...now.slice(now.length - end, nowEnd).map((line) => toPatchLine(" ", line)),
  ].join("");
}

/** With their line breaks. */
function toLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function toPatchLine(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

function rangeOf(from: number, end: number): string {
  return `${end > from ? from + 1 : from},${end - from}`;
}

/** As git quotes unusual paths, so that a file's name cannot look like another line of the patch. */
function quote(path: string): string {
  if (!/["\\\u0000-\u001f\u007f]/.test(path)) return path;
  return JSON.stringify(path);
}
