import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { visibleText } from "../../parts/visible-text.ts";
import { markdownNodes, type MarkdownContext } from "./markdown-nodes.tsx";
import { parseMarkdown } from "./parse-markdown.ts";
import { SourceText } from "./source-text.tsx";

/** What is rendered; the rest of a longer text is shown as it is written. */
const renderedCharacters = 128 * 1024;

const reasons = {
  "too deep": "This text is nested too deep to be rendered, so it is shown as it is written.",
  "too slow": "This text takes too long to be rendered, so it is shown as it is written.",
};

/** Markdown of a skill, rendered so that nothing in it can run, load, style or hide. */
export function Markdown({ text, ...around }: MarkdownContext & { readonly text: string }): JSX.Element {
  const { files, openFile, under } = around;
  const { head, rest, firstLine } = useMemo(() => cut(text), [text]);
  const rendered = useMemo(() => render(head, { files, openFile, under }), [head, files, openFile, under]);
  return (
    <>
      {"nodes" in rendered ? (
        <div class="markdown">{rendered.nodes}</div>
      ) : (
        <>
          <p class="caution">{reasons[rendered.why]}</p>
          <SourceText text={head} label="Instructions as written" />
        </>
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

/** Cuts a text at the end of a line, if there is one, into what is rendered and the rest. */
function cut(text: string): { readonly head: string; readonly rest: string; readonly firstLine: number } {
  if (text.length <= renderedCharacters) return { head: text, rest: "", firstLine: 1 };
  const end = text.lastIndexOf("\n", renderedCharacters) + 1 || renderedCharacters;
  const head = text.slice(0, end);
  return { head, rest: text.slice(end), firstLine: head.split("\n").length };
}

function render(
  text: string,
  around: MarkdownContext,
): { readonly nodes: ComponentChildren } | { readonly why: keyof typeof reasons } {
  const parsed = parseMarkdown(visibleText(text));
  if ("unparsed" in parsed) return { why: parsed.unparsed };
  return { nodes: markdownNodes(parsed.tokens, around) };
}
