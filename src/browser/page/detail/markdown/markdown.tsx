import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { MarkedToken, Token, Tokens } from "marked";
import { visibleText } from "../../components/foreign-text.tsx";
import { parseMarkdown } from "./parse-markdown.ts";
import { SourceText } from "./source-text.tsx";
import { markdownImage, markdownLink, plainText } from "./markdown-link.tsx";

/** The maximum number of rendered characters; the rest of a longer text is shown as it is written. */
const renderedCharacters = 128 * 1024;

/** Markdown of a skill, rendered so that nothing in it can run, load, style the page or hide. */
export function Markdown({ text, files, openFile, under }: MarkdownContext & { readonly text: string }): JSX.Element {
  const { head, rest, firstLine } = useMemo(() => cut(text), [text]);
  const nodes = useMemo(() => {
    const tokens = parseMarkdown(visibleText(head));
    return tokens && markdownNodes(tokens, { files, openFile, under });
  }, [head, files, openFile, under]);
  return (
    <>
      {nodes === undefined ? (
        <>
          <p class="caution">
            This text is nested too deep, or takes too long to be rendered, so it is shown as it is written.
          </p>
          <SourceText text={head} label="Instructions as written" />
        </>
      ) : (
        <div class="markdown">{nodes}</div>
      )}
      {rest !== "" && (
        <>
          <p class="caution">The text is longer than what is rendered at once. Its rest, as it is written:</p>
          <SourceText text={rest} label="Rest of the instructions" from={firstLine} />
        </>
      )}
    </>
  );
}

/** Cuts a text into the rendered head and the rest, at the end of a line if there is one. */
function cut(text: string): { readonly head: string; readonly rest: string; readonly firstLine: number } {
  if (text.length <= renderedCharacters) return { head: text, rest: "", firstLine: 1 };
  const end = text.lastIndexOf("\n", renderedCharacters) + 1 || renderedCharacters;
  const head = text.slice(0, end);
  return { head, rest: text.slice(end), firstLine: head.split("\n").length };
}

interface MarkdownContext {
  /** The paths of files to which relative links may lead. */
  readonly files: ReadonlySet<string>;
  readonly openFile: (path: string) => void;
  /** The level of the heading above the text. */
  readonly under: number;
}

/** Tags without attributes that only shape the text inside a line. */
const shaping = /^<(kbd|sub|sup)>$/i;

/**
 * Makes elements of parsed Markdown, never HTML: only text, checked addresses and numbers of the skill reach the page. HTML in it is shown
 * as the text that a model reads. Headings retain their order, and each is below the heading of the page.
 */
function markdownNodes(tokens: readonly Token[], around: MarkdownContext): ComponentChildren {
  let level = around.under;
  return all(tokens);

  function all(some: readonly Token[] = []): ComponentChildren[] {
    const nodes: ComponentChildren[] = [];
    for (let at = 0; at < some.length; at++) {
      const token = some[at] as MarkedToken;
      const [, name] = (token.type === "html" && shaping.exec(token.raw)) || [];
      const end = name === undefined ? -1 : some.findIndex(({ raw }, index) => index > at && isEnd(raw, name));
      if (name === undefined || end === -1) nodes.push(one(token));
      else {
        const Name = name.toLowerCase() as "kbd";
        nodes.push(<Name>{all(some.slice(at + 1, end))}</Name>);
        at = end;
      }
    }
    return nodes;
  }

  function one(token: MarkedToken): ComponentChildren {
    switch (token.type) {
      case "space":
      case "def":
        return null;
      case "text":
        return token.tokens === undefined ? shown(token.text) : all(token.tokens);
      case "escape":
        return shown(token.text);
      case "br":
        return <br />;
      case "hr":
        return <hr />;
      case "paragraph":
        return <p dir="auto">{all(token.tokens)}</p>;
      case "heading":
        return heading(token);
      case "blockquote":
        return <blockquote dir="auto">{all(token.tokens)}</blockquote>;
      case "strong":
      case "em":
      case "del":
        return <token.type>{all(token.tokens)}</token.type>;
      case "codespan":
        return <code>{unbroken(token.text)}</code>;
      case "code":
        return (
          <pre tabIndex={0}>
            <code>{unbroken(token.text)}</code>
          </pre>
        );
      case "html":
        if (token.block) return <pre tabIndex={0}>{token.text.trimEnd()}</pre>;
        return /^<br\s*\/?>$/i.test(token.text) ? <br /> : <code>{token.text}</code>;
      case "checkbox":
        return token.checked ? "☑ " : "☐ ";
      case "list": {
        const { ordered, start, items } = token;
        return ordered ? <ol start={Number(start) || 1}>{all(items)}</ol> : <ul>{all(items)}</ul>;
      }
      case "list_item":
        return <li dir="auto">{all(token.tokens)}</li>;
      case "table":
        return table(token);
      case "image":
        return markdownImage(token);
      case "link":
        return markdownLink(token, all(token.tokens), around);
    }
  }

  function heading({ depth, text, tokens: inside }: Tokens.Heading): ComponentChildren {
    if (text.trim() === "") return null;
    level = Math.min(around.under + depth, level + 1, 6);
    const Heading = `h${String(level)}` as "h2";
    return (
      <Heading dir="auto" data-level={depth}>
        {all(inside)}
      </Heading>
    );
  }

  function table({ header, rows }: Tokens.Table): JSX.Element {
    return (
      <div class="table" role="group" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {header.map(({ text, tokens: inside }) =>
                text.trim() === "" ? <td /> : <th scope="col">{all(inside)}</th>,
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr>
                {cells.map(({ tokens: inside }) => (
                  <td dir="auto">{all(inside)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  }
}

function isEnd(raw: string, name: string): boolean {
  return raw.toLowerCase() === `</${name.toLowerCase()}>`;
}

const option = /(?<=^|\s)(--?[\w-]{1,60})(?=$|[\s=])/;

/** Prevents line breaks inside options of commands: lines may break at hyphens otherwise, also between the two of `--`. */
function unbroken(text: string): (string | JSX.Element)[] {
  return text.split(option).map((part, index) => (index % 2 === 1 ? <span class="unbroken">{part}</span> : part));
}

/** Decodes character references before unseen characters are named: a reference may stand for one. */
function shown(text: string): string {
  return visibleText(plainText(text));
}
