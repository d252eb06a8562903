import type { JSX } from "preact";
import type { AgentBudget } from "../../wire/sessions.ts";
import type { SkillRow } from "../../wire/skills.ts";
import { SourceErrorAlert, useAnswer } from "../components/server-answer.tsx";
import { counted } from "../../../base/text/code-points.ts";
import { titledTable } from "../components/table.tsx";
import { skillLink, skillNames } from "../components/route-link.tsx";
import { useBrowser } from "../state/browser.ts";

const maxRows = 50;

/** The view of the skills' cost in the context of models, and of the skills that agents cut. */
export function BudgetView(): JSX.Element {
  const { source } = useBrowser();
  const { answer, error } = useAnswer((server, signal) => server.budget(signal), [], "skills");
  const rows = source.list.value?.skills ?? [];
  return (
    <div class="view">
      <h2>Context budget</h2>
      <SourceErrorAlert error={error} />
      {answer !== undefined && (
        <>
          <p>
            Models see {counted(answer.skills, "skill")}. The list of names and descriptions costs about{" "}
            <strong>{answer.listed.toLocaleString()} tokens</strong> in every session. Instructions are read when a
            skill is used; all of them together would be about {answer.instructions.toLocaleString()} tokens. These are
            estimates: four characters are counted as a token.
          </p>
          <ul class="tiles">
            {answer.agents.map((agent) => (
              <li key={agent.agent}>{agentCard(agent)}</li>
            ))}
          </ul>
          <Costs rows={rows} />
        </>
      )}
    </div>
  );
}

function agentCard({ agent, says, reference, truncated, omitted }: AgentBudget): JSX.Element {
  const isCut = truncated.length + omitted.length > 0;
  return (
    <article class="tile" aria-label={agent}>
      <header>
        <h3>{agent}</h3>
        <span class={isCut ? "mark warning" : "mark good"}>{isCut ? "cuts the list" : "shows all of it"}</span>
      </header>
      <p>
        Its limit: {says} (
        <a href={reference} target="_blank" rel="noopener noreferrer">
          {new URL(reference).host}
        </a>
        ).
      </p>
      {skillNames(`cuts ${counted(truncated.length, "description")}`, truncated.slice(0, maxRows), truncated.length)}
      {skillNames(`leaves out ${counted(omitted.length, "skill")}`, omitted.slice(0, maxRows), omitted.length)}
    </article>
  );
}

/** The 50 most expensive skills, for which a shorter text saves most. */
function Costs({ rows }: { readonly rows: readonly SkillRow[] }): JSX.Element | null {
  const dear = [...rows].sort((a, b) => b.tokens.listed - a.tokens.listed).slice(0, maxRows);
  if (dear.length === 0) return null;
  return (
    <section aria-label="Cost by skill">
      <h3>The {dear.length === rows.length ? "" : `${dear.length} `}most expensive</h3>
      {titledTable(
        ["Skill", "In the list", "When used"],
        dear.map(({ id, name, tokens }) => [skillLink(name, id), tokens.listed, tokens.instructions]),
      )}
    </section>
  );
}
