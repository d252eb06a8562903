import type { JSX } from "preact";
import { visibleText } from "./foreign-text.tsx";

const maxLines = 1_000;
const maxLineLength = 1_000;

/** A unified diff. Each line shows its sign, which the colour only repeats. `diff` is absent if the file cannot be compared. */
export function DiffText({ diff, label }: { readonly diff: string | undefined; readonly label: string }): JSX.Element {
  if (diff === undefined) return <p class="muted">It is not text, or too large to be compared here.</p>;
  const lines = diff.replace(/\n$/, "").split("\n");
  return (
    <div class="diff" role="group" aria-label={label} tabIndex={0}>
      <pre dir="ltr">
        {lines.slice(0, maxLines).map((line, index) => (
          <span key={index} class={kindOf(line)}>
            {visibleText(line.slice(0, maxLineLength))}
            {line.length > maxLineLength && ` ⟨${String(line.length - maxLineLength)} more characters⟩`}
            {"\n"}
          </span>
        ))}
      </pre>
      {lines.length > maxLines && <p class="muted">And {lines.length - maxLines} more lines.</p>}
    </div>
  );
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return "head";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
