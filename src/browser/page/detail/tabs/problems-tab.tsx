import type { JSX } from "preact";
import type { ShownAdvice, ShownProblem } from "../../../wire/skills.ts";
import { foreignText, visibleText } from "../../components/foreign-text.tsx";
import { Mark, type MarkDisplay } from "../../components/state-mark.tsx";
import { OpenInEditor } from "../open-in-editor.tsx";
import type { TabProps } from "../tabs.ts";

const displays: Readonly<Record<ShownProblem["severity"], MarkDisplay>> = {
  error: { icon: "cross", tone: "danger", words: "Error" },
  warning: { icon: "alert", tone: "warning", words: "Warning" },
  note: { icon: "info", tone: "muted", words: "Note" },
};

/** The tab of the problems that checking the skill found, with positions and fixes, and of other scanners' advice. */
export function ProblemsTab({ detail: { row, problems = [], advice = [] } }: TabProps): JSX.Element {
  return (
    <>
      <h3>Problems</h3>
      {problems.length === 0 ? (
        <p>
          <Mark icon="check" tone="good" words="None were found." />
        </p>
      ) : (
        <ul class="cards">{problems.map((problem, index) => problemCard(row.id, problem, index))}</ul>
      )}
      {advice.length > 0 && (
        <>
          <h3>Advice of others</h3>
          <p class="muted">From scanners whose results the project keeps in .agents/advice. It decides nothing here.</p>
          <ul class="cards">{advice.map(adviceCard)}</ul>
        </>
      )}
    </>
  );
}

function problemCard(skill: string, problem: ShownProblem, index: number): JSX.Element {
  return (
    <li key={`${problem.code} ${String(index)}`}>
      <p class="title">
        <Mark {...displays[problem.severity]} />
        {foreignText(problem.message, 1_000)}
      </p>
      <p>{foreignText(problem.fix, 1_000)}</p>
      {problem.frame.length > 0 && codeFrame(problem)}
      <div class="bar">
        <code dir="ltr">{foreignText(`${problem.file}:${String(problem.line)}:${String(problem.column)}`)}</code>
        <code class="muted">{problem.code}</code>
        <OpenInEditor skill={skill} path={problem.file} line={problem.line} column={problem.column} />
      </div>
    </li>
  );
}

function adviceCard(advice: ShownAdvice, index: number): JSX.Element {
  const { tool, rule, severity, message, path, line, isOutdated } = advice;
  return (
    <li key={`${tool} ${rule} ${String(index)}`}>
      <p class="title">
        <Mark {...displays[severity]} />
        {foreignText(message, 1_000)}
      </p>
      {isOutdated && <p class="muted">It is about other bytes than the skill has now.</p>}
      <div class="bar">
        <code dir="ltr">{foreignText(line === undefined ? path : `${path}:${String(line)}`)}</code>
        <code class="muted">{foreignText(rule)}</code>
        <span class="muted">{foreignText(tool)}</span>
      </div>
    </li>
  );
}

/** The lines around a problem, with a caret under its position. */
function codeFrame(problem: ShownProblem): JSX.Element {
  const { frame, line, column, endLine = line, endColumn = column + 1 } = problem;
  const digits = String(frame.at(-1)?.line ?? line).length;
  return (
    <div class="frame" role="group" aria-label="Code" tabIndex={0}>
      <pre dir="ltr">
        {frame.map(({ line: number, text }) => {
          const characters = Array.from(text);
          const visible = (start: number, end?: number): string =>
            visibleText(characters.slice(start, end).join("").replaceAll("\t", "  "));
          const from = number === line ? column - 1 : number > line && number <= endLine ? 0 : characters.length;
          const to = number === endLine ? Math.max(endColumn - 1, from) : number < endLine ? characters.length : from;
          const before = `${number === line ? ">" : " "} ${String(number).padStart(digits)} │ ${visible(0, from)}`;
          const marked = visible(from, to);
          const caret = " ".repeat(Array.from(before).length) + "^".repeat(Math.max(1, Array.from(marked).length));
          return (
            <span key={number}>
              {before}
              <mark>{marked}</mark>
              {`${visible(to)}\n`}
              {number === line && (
                <span class="caret" aria-hidden="true">
                  {`${caret}\n`}
                </span>
              )}
            </span>
          );
        })}
      </pre>
    </div>
  );
}
