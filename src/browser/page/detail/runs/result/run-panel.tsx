import type { JSX } from "preact";
import { LiveLog } from "../log/live-log.tsx";
import { isOver, type RunView } from "../state/run-view.ts";
import { RunOutcomeView } from "./run-outcome.tsx";
import { RunStateMark } from "./run-state.tsx";
import { useEffect, useState } from "preact/hooks";

/** A run while it goes on, and after. */
export function RunPanel({ view, onCancel }: { readonly view: RunView; readonly onCancel: () => void }): JSX.Element {
  const { run, at, status, behind, isolation, log, blobs, endedAt } = view;
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
        {isRunning && (
          <button type="button" class="button danger" onClick={onCancel}>
            Cancel
          </button>
        )}
      </header>
      {log.pieces.length > 0 && <LiveLog log={log} />}
      {!isRunning && <RunOutcomeView run={{ ...view, blobs, isOwn: true }} />}
    </section>
  );
}

/** The time since a moment, as long as it goes on; then how long it took. */
function Elapsed({ since, until }: { readonly since: number; readonly until: number | undefined }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (until !== undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [until]);
  return <span class="elapsed muted">{toDuration(Math.max(0, (until ?? now) - since))}</span>;
}

/** 340 ms, 4.2 s, 1 min 12 s. */
function toDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
