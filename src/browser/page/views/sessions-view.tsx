import type { JSX } from "preact";
import type { SessionList, ShownSession } from "../../wire/sessions.ts";
import { SourceErrorAlert, useAnswer } from "../components/server-answer.tsx";
import { Empty, Icon } from "../components/icon.tsx";
import { shownTime } from "../components/formats.tsx";
import { fieldList } from "../components/fields.tsx";
import { foreignText, toVisible } from "../components/foreign-text.tsx";
import { titledTable } from "../components/table.tsx";
import { counted } from "../../../base/text/code-points.ts";
import { skillLink, skillNames } from "../components/route-link.tsx";

/** The view of the ACP sessions on this machine, with the skills that were announced to their editors and used. */
export function SessionsView(): JSX.Element {
  const { answer, error } = useAnswer((server, signal) => server.sessions(signal), [], "sessions");
  const sessions = answer?.sessions ?? [];
  const open = sessions.filter(({ closedAt }) => closedAt === undefined);
  const closed = sessions.filter(({ closedAt }) => closedAt !== undefined);
  return (
    <div class="view">
      <h2>Sessions</h2>
      <SourceErrorAlert error={error} />
      {answer !== undefined && sessions.length === 0 && (
        <Empty icon="plug" title="No session was recorded yet">
          <p>
            Start your editor’s agent with <code>acp-skills --</code> before its command. Its sessions then appear here.
          </p>
        </Empty>
      )}
      <Cards title="Open" of={open} />
      <Cards title="Closed" of={closed} />
    </div>
  );
}

function Cards({ title, of }: { readonly title: string; readonly of: SessionList["sessions"] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <section aria-label={`${title} sessions`}>
      <h3>
        {title} <span class="muted">{of.length}</span>
      </h3>
      <ul class="tiles">
        {of.map((session) => (
          <li key={`${session.id} ${session.openedAt}`}>{sessionCard(session)}</li>
        ))}
      </ul>
    </section>
  );
}

/** One session: the editor and the agent, the announced skills, and the uses. */
function sessionCard(session: ShownSession): JSX.Element {
  const { id, agent, editor, directory, openedAt, closedAt, forms, tools, announced, used } = session;
  return (
    <article class="tile" aria-label={`Session ${id}`}>
      <header>
        <h4>
          {foreignText(editor || "An editor")} → {foreignText(agent || "an agent")}
        </h4>
        <span class={closedAt === undefined ? "mark good" : "mark muted"}>
          <Icon name={closedAt === undefined ? "plug" : "close"} />
          {closedAt === undefined ? "open" : "closed"}
        </span>
      </header>
      {fieldList([
        ["Session", <code key="id">{toVisible(id)}</code>],
        ["Directory", directory && <code key="directory">{toVisible(directory)}</code>],
        ["Opened", shownTime(openedAt)],
        ["Closed", closedAt && shownTime(closedAt)],
        ["Model", tools ? "has the skill tools" : "did not get the skill tools"],
        [
          "Announced",
          <>
            {announced === undefined ? "nothing yet" : `${counted(announced.skills, "skill")} at `}
            {announced && shownTime(announced.at)}
            {forms.length > 0 && foreignText(` as ${forms.join(", ")}`)}
          </>,
        ],
      ])}
      {skillNames("Which skills", announced?.names ?? [], announced?.skills ?? 0)}
      {used.length > 0 && (
        <details>
          <summary>{counted(used.length, "use")}</summary>
          {titledTable(
            ["When", "Tool", "Skill", "Outcome"],
            used.map(({ at, tool, skill, outcome }) => [
              shownTime(at),
              <code key="tool">{tool}</code>,
              skill !== undefined && skillLink(skill),
              outcome,
            ]),
          )}
        </details>
      )}
    </article>
  );
}
