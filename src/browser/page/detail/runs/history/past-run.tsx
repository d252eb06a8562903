import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { toVisible } from "../../../parts/visible-text.ts";
import type { ShownRun, SkillHistory } from "../../../../wire/runs.ts";
import { SourceError } from "../../../source/source-error.ts";
import { useBrowser } from "../../../state/browser.ts";
import { RunOutcomeView } from "../result/run-outcome.tsx";
import { RunStateMark } from "../result/run-state.tsx";
import { Moment } from "./moment.tsx";
import { SessionLink, short } from "./session-link.tsx";
import { doorInWords } from "./sentences.ts";

/** A run of the last day; its result is read when it is opened. */
export function PastRun({
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
