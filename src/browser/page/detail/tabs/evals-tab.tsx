import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { EvalLog, ShownEvalRun, ShownIteration } from "../../../wire/evals.ts";
import { foreignText, toVisible } from "../../components/foreign-text.tsx";
import { formatShare } from "../../components/formats.tsx";
import { Button, Empty } from "../../components/icon.tsx";
import { SourceErrorAlert, useAnswer } from "../../components/server-answer.tsx";
import { titledTable } from "../../components/table.tsx";
import { type SourceError, toSourceError } from "../../source/skill-source.ts";
import { useServer } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";

/** The tab of the evaluations that `acp-skills eval` recorded in this project: whether the skill is used, and whether it helps. */
export function EvalsTab({ detail: { row } }: TabProps): JSX.Element {
  const { answer, error, readAgain } = useAnswer((server, signal) => server.evals(row.id, signal), [row.id]);
  const [chosen, setChosen] = useState<number>();
  if (error !== undefined) return <Empty icon="alert" title={error.message} />;
  if (answer === undefined) return <p role="status">Reading…</p>;
  const iteration = answer.iterations.find(({ number }) => number === chosen) ?? answer.iterations[0];
  if (iteration === undefined)
    return (
      <Empty icon="book" title="Not evaluated yet">
        <p>
          <code>acp-skills eval SKILL -- AGENT</code> runs the cases in evals/evals.json with this skill and without it.
          Its results are read from {foreignText(answer.workspace, 400)}.
        </p>
        <Button text="Read again" onClick={readAgain} />
      </Empty>
    );
  return (
    <div class="history">
      <p>
        <label>
          Evaluation{" "}
          <select value={iteration.number} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
            {answer.iterations.map(({ number, benchmark: { run_summary: all } }) => (
              <option key={number} value={number}>
                {number}: {rateOf(all.with_skill)} with the skill, {rateOf(all.without_skill)} without
              </option>
            ))}
          </select>
        </label>{" "}
        <Button text="Read again" onClick={readAgain} />
      </p>
      {titledTable(
        ["Case", "With the skill", "Without it", "Used", "Seconds", "Tokens", "Seconds without", "Tokens without"],
        iteration.benchmark.cases.map(({ id, shouldTrigger, use, with_skill, without_skill }) => [
          foreignText(id, 80),
          ...[rateOf(with_skill), rateOf(without_skill)],
          use === undefined ? "cannot be seen" : `${use.count} of ${use.of}${shouldTrigger ? "" : " (should not)"}`,
          ...[with_skill, without_skill].flatMap((one) => [meanOf(one?.time_seconds), meanOf(one?.tokens)]),
        ]),
      )}
      <ul class="runs">
        {iteration.runs.map((run) => (
          <li key={`${iteration.number}/${run.id}/${run.withSkill}/${run.number}`}>
            <EvaluatedRun skill={row.id} iteration={iteration} run={run} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface EvaluatedRunProps {
  readonly skill: string;
  readonly iteration: ShownIteration;
  readonly run: ShownEvalRun;
}

/** One session: the assertions with their results, and the transcript, which is read when the user opens it. */
function EvaluatedRun({ skill, iteration, run }: EvaluatedRunProps): JSX.Element {
  const server = useServer();
  const [log, setLog] = useState<EvalLog>();
  const [problem, setProblem] = useState<SourceError>();
  const { id, number, withSkill, use, rate, fault, rejected, isCut, results } = run;
  const readLog = (): void =>
    void server
      .evalSession(skill, iteration.number, run)
      .then(setLog, (error: unknown) => setProblem(toSourceError(error)));
  const facts = [
    fault === undefined ? `${formatShare(rate)} of assertions` : "failed",
    ...(withSkill && fault === undefined ? [use === "unseen" ? "use cannot be seen" : use] : []),
    ...(rejected > 0 ? [`${rejected} permission requests rejected`] : []),
    ...(isCut === true ? ["not all of its files recorded"] : []),
  ];
  return (
    <details>
      <summary>
        {foreignText(id, 80)}, run {number} {withSkill ? "with the skill" : "without it"}: {facts.join(", ")}
      </summary>
      <div class="past-run">
        {fault !== undefined && <p class="failure">{foreignText(fault, 1_000)}</p>}
        <ul>
          {results.map(({ text, passed, evidence }, index) => (
            <li key={index}>
              <strong>{passed === null ? "Not judged" : passed ? "Holds" : "Does not hold"}:</strong>{" "}
              {foreignText(text, 1_000)} <span class="muted">{foreignText(evidence, 1_000)}</span>
            </li>
          ))}
        </ul>
        <details onToggle={({ currentTarget }) => currentTarget.open && log === undefined && readLog()}>
          <summary>What was said and done</summary>
          <SourceErrorAlert error={problem} />
          {log?.lines.map(({ who, text }, index) => (
            <section key={index} aria-label={speakers[who]}>
              <p class="muted">{speakers[who]}</p>
              <pre class="log">{toVisible(text, Infinity)}</pre>
            </section>
          ))}
        </details>
      </div>
    </details>
  );
}

const speakers = {
  user: "The task",
  agent: "The agent",
  tool: "Tool call",
  permission: "Permission request, rejected",
} as const;

type Configuration = ShownIteration["benchmark"]["run_summary"]["with_skill"];

/** The mean share of assertions that hold, over the judged runs. */
function rateOf(one: Configuration): string {
  return formatShare(one?.pass_rate?.mean);
}

/** The mean with one decimal, or a dash if the agent reports no values. */
function meanOf(spread: NonNullable<Configuration>["tokens"]): number | string {
  return spread === undefined ? "–" : Math.round(spread.mean * 10) / 10;
}
