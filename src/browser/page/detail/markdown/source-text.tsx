import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { visibleText } from "../../components/foreign-text.tsx";

interface Properties {
  readonly text: string;
  readonly label: string;
  /** The number of the first line. Default: 1. */
  readonly from?: number;
}

const linesOfBlock = 200;
const maxLineLength = 4_000;

/**
 * Text as it is written, with line numbers and named unseen characters. Browsers lay out only the blocks in view, so a file of 250,000
 * lines scrolls; find in page and selection cover the whole text.
 */
export function SourceText({ text, label, from = 1 }: Properties): JSX.Element {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="source-text" role="group" aria-label={label} tabIndex={0}>
      {blocks.map((lines, index) => (
        <div key={index} class="block" style={{ "--lines": lines.length }}>
          <pre aria-hidden="true" class="numbers">
            {lines.map((_, line) => from + index * linesOfBlock + line).join("\n")}
          </pre>
          <pre dir="ltr">{lines.join("\n")}</pre>
        </div>
      ))}
    </div>
  );
}

function blocksOf(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const shown = lines.map((line) => {
    const left = line.length - maxLineLength;
    return left > 0
      ? `${visibleText(line.slice(0, maxLineLength))} ⟨${String(left)} more characters⟩`
      : visibleText(line);
  });
  return Array.from({ length: Math.ceil(shown.length / linesOfBlock) }, (_, block) =>
    shown.slice(block * linesOfBlock, (block + 1) * linesOfBlock),
  );
}
