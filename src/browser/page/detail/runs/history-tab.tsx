import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownRun, SkillHistory } from "../../../wire/runs.ts";
import { toVisible } from "../../components/foreign-text.tsx";
import { shownTime } from "../../components/formats.tsx";
import { Empty } from "../../components/icon.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { SourceErrorAlert, useAnswer } from "../../components/server-answer.tsx";
import { type SourceError, toSourceError } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { RunOutcomeView } from "./result/run-outcome.tsx";
import { RunStateMark } from "./result/run-panel.tsx";
import { toLedgerSentence, withChanges, transportInWords } from "./sentences.ts";

/** The history of a skill on this machine: its runs, the questions and answers about it, and the changes of its files. */
export function HistoryTab({ detail: { digest, row } }: TabProps): JSX.Element {
  const { answer: history, error } = useAnswer(
    (server, signal) => server.history(row.id, signal),
    [row.id, digest],
    "run",
    ({ type }) => type === "started" || type === "ended",
  );
  if (error !== undefined) return <Empty icon="alert" title={error.message} />;
  if (history === undefined) return <p role="status">Reading…</p>;
  const { runs, events } = history;
  if (runs.length + events.length === 0)
    return (
      <Empty icon="book" title="Nothing happened yet">
        <p>Runs, questions and approvals of this skill will be listed here.</p>
      </Empty>
    );
  return (
    <div class="history">
      <section aria-labelledby="history-runs">
        <h3 id="history-runs">Runs of the last 24 hours</h3>
        {runs.length === 0 && <p class="muted">None.</p>}
        <ul class={runs.length === 0 ? undefined : "runs"}>
          {runs.map((run) => (
            <PastRun key={run.run} run={run} current={digest} />
          ))}
        </ul>
      </section>
      <section aria-labelledby="history-events">
        <h3 id="history-events">What the ledger says</h3>
        {events.length === 0 && <p class="muted">Nothing.</p>}
        <ul class="events">
          {withChanges(events).map((line, index) => (
            <li key={index}>
              {moment(line.at)}
              {"event" in line ? (
                <span>
                  {toVisible(toLedgerSentence(line.event), 1_000)} <SessionLink session={line.event.session} />
                  {line.event.digest !== undefined && <code class="muted">{short(line.event.digest)}</code>}
                </span>
              ) : (
                <span class="notice">
                  Its files changed: <code>{short(line.from)}</code> → <code>{short(line.to)}</code>
                </span>
              )}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

interface PastRunProps {
  readonly run: SkillHistory["runs"][number];
  readonly current: string | undefined;
}

/** A run of the last 24 hours. Its result is read when the user opens it. */
function PastRun({ run, current }: PastRunProps): JSX.Element {
  const { server } = useBrowser().source;
  const [shown, setShown] = useState<ShownRun>();
  const [problem, setProblem] = useState<SourceError>();
  const { run: id, at, status, digest, door, session, agent } = run;
  const printed = shown?.printed.text || shown?.result?.logs_preview;
  const read = (): void => void server?.run(id).then(setShown, (error: unknown) => setProblem(toSourceError(error)));
  return (
    <li>
      <details onToggle={({ currentTarget }) => currentTarget.open && shown === undefined && read()}>
        <summary>
          {moment(at)}
          <RunStateMark status={status} />
          <span>
            {transportInWords(door)}
            {agent !== undefined && <bdi> ({toVisible(agent, 100)})</bdi>}
          </span>
          {digest !== undefined && (
            <code class="muted">
              {short(digest)}
              {current !== undefined && current !== digest && " (an earlier version)"}
            </code>
          )}
        </summary>
        <div class="past-run">
          <p>
            <code class="muted">{id}</code> <SessionLink session={session} />
          </p>
          <SourceErrorAlert error={problem} />
          {printed !== undefined && printed !== "" && (
            <pre class="log" tabIndex={0} aria-label="What it printed">
              {toVisible(printed, Infinity)}
            </pre>
          )}
          {shown !== undefined && <RunOutcomeView {...shown} />}
        </div>
      </details>
    </li>
  );
}

/** The id of the session behind a run or event, with a link to all sessions. */
function SessionLink({ session }: { readonly session: string | undefined }): JSX.Element | null {
  if (session === undefined) return null;
  return (
    <span class="muted">
      <RouteLink to={{ view: "sessions" }}>session</RouteLink> <bdi class="mono">{toVisible(session, 40)}</bdi>
    </span>
  );
}

function short(digest: string): string {
  return toVisible(digest.replace(/^sha256:/, "").slice(0, 12));
}

/** The time of a line of the history. */
function moment(at: number): JSX.Element {
  return <span class="moment muted">{shownTime(at)}</span>;
}
