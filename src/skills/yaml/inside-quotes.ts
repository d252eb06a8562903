/**
 * What stands between the first and the last quote of a text that has quotes inside its quotes: `"Use "x" now"` is
 * `Use "x" now`. Undefined where they are no pair, as in `"x" and "y"`.
 */
export function insideQuotes(text: string): string | undefined {
  const quote = text.charAt(0);
  if (text.length < 2 || !text.endsWith(quote)) return undefined;
  const inner = text.slice(1, -1);
  const plain = quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, "$1");
  const marks = marksIn(inner, quote);
  if (marks[0] === "closes" && marks.at(-1) === "opens") return undefined;
  return plain;
}

type Mark = "opens" | "closes";

/** What the quotes of a text do by what stands beside them; apostrophes and escaped quotes do nothing. */
function marksIn(text: string, quote: string): Mark[] {
  const marks: Mark[] = [];
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + 1);
    if (quote === '"' && before === "\\") continue;
    if (quote === "'" && after === quote) {
      at++;
      continue;
    }
    const [isBehind, isBefore] = [word.test(before), word.test(after)];
    if (quote === "'" && isBehind && isBefore) continue;
    marks.push(isBehind || after === "" || /\s/.test(after) ? "closes" : "opens");
  }
  return marks;
}

const word = /[^\s([{]/;
