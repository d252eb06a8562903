import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toVisible } from "../../../parts/visible-text.ts";
import { gapBefore, type PrintedLog } from "./printed-log.ts";

/** What a run prints, at its end unless a person has scrolled up. */
export function LiveLog({ log }: { readonly log: PrintedLog }): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = box;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [log]);
  return (
    <pre
      ref={box}
      class="log"
      role="log"
      aria-label="What it prints"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
      }}
    >
      {log.pieces.map((piece, index) => {
        const gap = gapBefore(log, index);
        return (
          <span key={piece.at}>
            {gap > 0 && (
              <i class="gap">
                … {gap.toLocaleString("en")} characters are not shown …{"\n"}
              </i>
            )}
            {toVisible(piece.text, Infinity)}
          </span>
        );
      })}
    </pre>
  );
}
