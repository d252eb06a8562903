import type { JSX } from "preact";
import { foreignText } from "../../components/foreign-text.tsx";
import { Mark, type MarkDisplay } from "../../components/state-mark.tsx";
import type { SkillDetail } from "../../../wire/skills.ts";
import type { TabProps } from "../tabs.ts";

const displays: Readonly<Record<SkillDetail["environment"][number]["status"], MarkDisplay>> = {
  met: { icon: "check", tone: "good", words: "Met" },
  missing: { icon: "cross", tone: "danger", words: "Missing" },
  unknown: { icon: "question", tone: "muted", words: "Unknown" },
};

/** The tab of the skill's requirements, compared with this machine. */
export function EnvironmentTab({ detail: { environment = [] } }: TabProps): JSX.Element {
  return (
    <>
      <h3>Environment</h3>
      {environment.length === 0 ? (
        <p class="muted">It states no requirement that could be compared with this machine.</p>
      ) : (
        <ul class="cards">
          {environment.map(({ requirement, status, evidence, advice }, index) => (
            <li key={`${requirement} ${String(index)}`}>
              <p class="title">
                <Mark {...displays[status]} />
                {foreignText(requirement, 1_000)}
              </p>
              <p>{foreignText(evidence, 1_000)}</p>
              {advice !== undefined && <p class="muted">{foreignText(advice, 1_000)}</p>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
