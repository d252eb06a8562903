import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { Empty } from "../../parts/icon.tsx";
import { toVisible } from "../../parts/foreign-text.tsx";
import type { RunNews, SkillHistory, ShownRun } from "../../../wire/runs.ts";
import { SourceError, type KnownDetail, type SkillServer } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import { toLedgerSentence, withChanges, doorInWords } from "./sentences.ts";
import { RunOutcomeView } from "./result/run-outcome.tsx";
import { RunStateMark } from "./result/run-panel.tsx";
import { useAnswer } from "../../parts/server-answer.tsx";
import { RouteLink } from "../../parts/route-link.tsx";
import { Time } from "../../parts/formats.tsx";

/** What was done with a skill on this machine: its runs, who was asked, what they answered, and when its files changed. */
export function HistoryTab({ detail }: { readonly detail: KnownDetail }): JSX.Element {
  const { digest, row } = detail;
  const { id } = row;
  const { server } = useBrowser().source;
  const read = useCallback((asked: SkillServer, signal: AbortSignal) => asked.history(id, signal), [id, digest]);
  const { answer: history, error } = useAnswer(read, "run", isStartOrEnd);
  if (server === undefined) return <Empty icon="book" title="The history is recorded where skills run" />;
  if (error !== undefined) return <Empty icon="alert" title={error.message} />;
  if (history === undefined) return <p role="status">Reading…</p>;
  const { runs, events } = history;
  if (runs.length === 0 && events.length === 0)
    return (
      <Empty icon="book" title="Nothing happened yet">
        <p>Runs, questions and approvals of this skill will be listed here.</p>
      </Empty>
    );
  return (
    <div class="history">
      <section aria-labelledby="history-runs">
        <h3 id="history-runs">Runs of the last 24 hours</h3>
        {runs.length === 0 ? (
          <p class="muted">None.</p>
        ) : (
          <ul class="runs">
            {runs.map((run) => (
              <PastRun key={run.run} run={run} current={digest} />
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="history-events">
        <h3 id="history-events">What the ledger says</h3>
        <Events events={events} />
      </section>
    </div>
  );
}

function isStartOrEnd({ type }: RunNews): boolean {
  return type === "started" || type === "ended";
}

function Events({ events }: Pick<SkillHistory, "events">): JSX.Element {
  if (events.length === 0) return <p class="muted">Nothing.</p>;
  return (
    <ul class="events">
      {withChanges(events).map((line, index) => (
        <li key={index}>
          <Moment at={line.at} />
          {"event" in line ? (
            <span>
              {toVisible(toLedgerSentence(line.event), 1_000)}{" "}
              {line.event.session !== undefined && <SessionLink session={line.event.session} />}
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
  );
}

/** A run of the last day; its result is read when it is opened. */
function PastRun({
  run,
  current,
}: {
  readonly run: SkillHistory["runs"][number];
  readonly current: string | undefined;
}): JSX.Element {
  const { server } = useBrowser().source;
  const [shown, setShown] = useState<ShownRun | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const { run: id, at, status, digest, door, session, agent } = run;
  const read = async (): Promise<void> => {
    try {
      if (server !== undefined) setShown(await server.run(id));
    } catch (error) {
      setProblem(error instanceof SourceError ? error.message : String(error));
    }
  };
  return (
    <li>
      <details onToggle={({ currentTarget }) => void (currentTarget.open && shown === undefined && read())}>
        <summary>
          <Moment at={at} />
          <RunStateMark status={status} />
          <span>
            {doorInWords(door)}
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
            <code class="muted">{id}</code> {session !== undefined && <SessionLink session={session} />}
          </p>
          {problem !== undefined && <p role="alert">{problem}</p>}
          {shown !== undefined && (
            <>
              {shown.printed.text === "" &&
                shown.result?.logs_preview !== undefined &&
                shown.result.logs_preview !== "" && (
                  <pre class="log" tabIndex={0} aria-label="What it printed">
                    {toVisible(shown.result.logs_preview, Infinity)}
                  </pre>
                )}
              {shown.printed.text !== "" && (
                <pre class="log" tabIndex={0} aria-label="What it printed">
                  {toVisible(shown.printed.text, Infinity)}
                </pre>
              )}
              <RunOutcomeView run={shown} />
            </>
          )}
        </div>
      </details>
    </li>
  );
}

/** The session that used it, among all sessions. */
function SessionLink({ session }: { readonly session: string }): JSX.Element {
  return (
    <span class="muted">
      <RouteLink to={{ view: "sessions" }}>session</RouteLink> <bdi class="mono">{toVisible(session, 40)}</bdi>
    </span>
  );
}

function short(digest: string): string {
  return toVisible(digest.replace(/^sha256:/, "").slice(0, 12));
}

/** A moment in a line of the history. */
function Moment({ at }: { readonly at: number }): JSX.Element {
  return (
    <span class="moment muted">
      <Time at={at} />
    </span>
  );
}
