/** The location of a server: a URL, or the words of the command that starts it. */
export type ServerLocation = { readonly url: string } | { readonly words: readonly string[] };

/** Parses the URL of a server, or the command that starts it; `why` is a clause that never repeats the text. */
export function parseServerText(text: string): ServerLocation | { readonly why: string } {
  if (text === "") return { why: "what follows mcp: is missing: the URL of a server, or the command that starts it" };
  if (/^https?:\/\//i.test(text)) return parseUrl(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { why: "a server of MCP is reached over http or https" };
  return splitWords(text);
}

function parseUrl(text: string): ServerLocation | { readonly why: string } {
  if (/\s/.test(text)) return { why: "it contains blanks" };
  if (!URL.canParse(text)) return { why: "the URL is not valid" };
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    return { why: "user information in a URL would end up in files and logs; give a token with --token env:NAME" };
  if (url.hash !== "") return { why: "a server of MCP has no #REF" };
  // Removes the marks of an empty query and an empty fragment.
  url.hash = "";
  if (url.search === "") url.search = "";
  return { url: url.href };
}

/** The characters on which a shell would act; no shell is used here. */
const operators = /[|;&<>`$]/;

/** Splits a command at blanks, except in single or double quotes, in which every character stands for itself. */
function splitWords(text: string): ServerLocation | { readonly why: string } {
  const words: string[] = [];
  let word: string | undefined;
  for (const [part] of text.matchAll(/'[^']*'|"[^"]*"|\s+|[^\s'"]+|['"]/g)) {
    if (part === "'" || part === '"') return { why: "a quote is opened in the command and never closed" };
    const isQuoted = part.startsWith("'") || part.startsWith('"');
    if (!isQuoted && operators.test(part))
      return { why: "the command is started without a shell, so | ; & < > $ and ` mean nothing; quote them" };
    if (/^\s/.test(part)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + (isQuoted ? part.slice(1, -1) : part);
  }
  if (word !== undefined) words.push(word);
  const [program = ""] = words;
  if (program === "") return { why: "the command names no program" };
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(program))
    return { why: "a variable before the command is not set without a shell; a server gets no secrets from here" };
  return { words };
}

/** Joins the words of a command to a text that is split into the same words. */
export function toCommandText(words: readonly string[]): string {
  return words.map((word, at) => toWord(word, at === 0 && word.includes("://"))).join(" ");
}

/** Quotes a word if it needs quotes. `isLikeUrl`: without quotes, it would be the URL of a server. */
function toWord(word: string, isLikeUrl: boolean): string {
  if (word !== "" && !isLikeUrl && !/[\s'"]/.test(word) && !operators.test(word)) return word;
  const runs = word.match(/"+|[^"]+/g) ?? [""];
  return runs.map((run) => (run.startsWith('"') ? `'${run}'` : `"${run}"`)).join("");
}
