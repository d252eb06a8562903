import type { JSX } from "preact";
import type { SessionList, ShownSession } from "../../wire/sessions.ts";
import { SourceErrorAlert, useAnswer } from "../parts/server-answer.tsx";
import { Empty, Icon } from "../parts/icon.tsx";
import type { SkillServer } from "../source/skill-source.ts";
import { Time } from "../parts/formats.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { counted } from "../../../base/text/code-points.ts";
import { SkillLink, SkillNames } from "../parts/route-link.tsx";

const readSessions = (server: SkillServer, signal: AbortSignal): Promise<SessionList> => server.sessions(signal);

/** The ACP sessions of this machine: which skills were announced to their editors, and which were used. */
export function SessionsView(): JSX.Element {
  const { answer, error } = useAnswer(readSessions, "sessions");
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
          <li key={`${session.id} ${session.openedAt}`}>
            <SessionCard session={session} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One session: who is connected, which skills were announced, which were used. */
function SessionCard({ session }: { readonly session: ShownSession }): JSX.Element {
  const { id, agent, editor, directory, openedAt, closedAt, forms, tools, announced, used } = session;
  return (
    <article class="tile" aria-label={`Session ${id}`}>
      <header>
        <h4>
          <ForeignText text={editor || "An editor"} /> → <ForeignText text={agent || "an agent"} />
        </h4>
        <span class={closedAt === undefined ? "mark good" : "mark muted"}>
          <Icon name={closedAt === undefined ? "plug" : "close"} />
          {closedAt === undefined ? "open" : "closed"}
        </span>
      </header>
      <dl class="facts">
        <dt>Session</dt>
        <dd class="mono">
          <ForeignText text={id} />
        </dd>
        {directory !== undefined && (
          <>
            <dt>Directory</dt>
            <dd class="mono">
              <ForeignText text={directory} />
            </dd>
          </>
        )}
        <dt>Opened</dt>
        <dd>
          <Time at={openedAt} />
          {closedAt !== undefined && (
            <>
              , closed <Time at={closedAt} />
            </>
          )}
        </dd>
        <dt>Model</dt>
        <dd>{tools ? "has the skill tools" : "did not get the skill tools"}</dd>
        <dt>Announced</dt>
        <dd>
          {announced === undefined ? (
            "nothing yet"
          ) : (
            <>
              {counted(announced.skills, "skill")} at <Time at={announced.at} />
            </>
          )}
          {forms.length > 0 && <ForeignText text={` as ${forms.join(", ")}`} />}
        </dd>
      </dl>
      <SkillNames title="Which skills" names={announced?.names ?? []} total={announced?.skills ?? 0} />
      {used.length > 0 && (
        <details>
          <summary>{counted(used.length, "use")}</summary>
          <table class="uses">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Tool</th>
                <th scope="col">Skill</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {used.map(({ at, tool, skill, outcome }, place) => (
                <tr key={`${at} ${place}`}>
                  <td>
                    <Time at={at} />
                  </td>
                  <td class="mono">{tool}</td>
                  <td>{skill !== undefined && <SkillLink name={skill} />}</td>
                  <td>{outcome}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </article>
  );
}
