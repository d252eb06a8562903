import type { JSX } from "preact";
import { useEffect, useState, useLayoutEffect, useRef } from "preact/hooks";
import { isOver, type RunView } from "../state/page-run-state.ts";
import { RunOutcomeView } from "./run-outcome.tsx";
import type { RunState } from "../../../../wire/runs.ts";
import { Mark, type MarkDisplay } from "../../../components/state-mark.tsx";
import { toVisible } from "../../../components/foreign-text.tsx";
import { gapBefore, type PrintedLog } from "../state/printed-log.ts";
import { Button } from "../../../components/icon.tsx";

/** A run, while it goes on and after its end. */
export function RunPanel({ view, onCancel }: { readonly view: RunView; readonly onCancel: () => void }): JSX.Element {
  const { run, at, status, behind, isolation, log, endedAt } = view;
  const isRunning = !isOver(status);
  return (
    <section class="run-panel" aria-label="The last run">
      <header>
        <span role="status">
          <RunStateMark status={status} />
          {status === "queued" && behind > 0 && (
            <span class="muted">
              behind {behind} other run{behind === 1 ? "" : "s"}
            </span>
          )}
        </span>
        <Elapsed since={at} until={isRunning ? undefined : (endedAt ?? at)} />
        {isolation !== undefined && <span class="chip">{isolation}</span>}
        <code class="muted">{run}</code>
        {isRunning && <Button kind="danger" text="Cancel" onClick={onCancel} />}
      </header>
      {log.pieces.length > 0 && <LiveLog log={log} />}
      {!isRunning && <RunOutcomeView {...view} isOwn />}
    </section>
  );
}

/** The time since `since`, which grows until `until` is given. */
function Elapsed({ since, until }: { readonly since: number; readonly until: number | undefined }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (until !== undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [until]);
  return <span class="elapsed muted">{toDuration(Math.max(0, (until ?? now) - since))}</span>;
}

/** 340 ms, 4.2 s. */
function toDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

const displays: Readonly<Record<RunState, MarkDisplay>> = {
  queued: { words: "Waiting for its turn", icon: "layers", tone: "muted" },
  running: { words: "Running", icon: "bolt", tone: "notice" },
  interrupted: { words: "Interrupted", icon: "alert", tone: "warning" },
  completed: { words: "Completed", icon: "check", tone: "good" },
  failed: { words: "Failed", icon: "cross", tone: "danger" },
  refused: { words: "Refused", icon: "shield", tone: "warning" },
  cancelled: { words: "Cancelled", icon: "ban", tone: "muted" },
};

/** The state of a run: an icon and words. */
export function RunStateMark({ status }: { readonly status: RunState }): JSX.Element {
  return <Mark {...displays[status]} />;
}

/** The output that a run prints, scrolled to its end unless the user has scrolled up. */
function LiveLog({ log }: { readonly log: PrintedLog }): JSX.Element {
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
