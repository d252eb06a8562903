import type { JSX } from "preact";
import { LiveLog } from "../log/live-log.tsx";
import { isOver, type RunView } from "../state/run-view.ts";
import { Elapsed } from "./elapsed.tsx";
import { RunOutcomeView } from "./run-outcome.tsx";
import { RunStateMark } from "./run-state.tsx";

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
