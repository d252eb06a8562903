import type { JSX } from "preact";
import type { SessionList } from "../../wire/sessions.ts";
import { SourceErrorAlert } from "../answers/failure.tsx";
import { useAnswer } from "../answers/use-answer.ts";
import { Empty } from "../parts/empty.tsx";
import type { SkillServer } from "../source/skill-server.ts";
import { SessionCard } from "./sessions/session-card.tsx";

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
