import type { JSX } from "preact";
import type { SkillPermissions } from "../../../wire/skills.ts";
import { ForeignText } from "../../parts/foreign-text.tsx";

/** What a skill asks for in words, then exactly. */
export function RequestedCapabilities({
  permissions: { wants },
  expects,
}: {
  readonly permissions: SkillPermissions;
  /** Tools of the agent that its author lists. */
  readonly expects: readonly string[];
}): JSX.Element {
  const exact: readonly (readonly [string, readonly string[]])[] = [
    ["Network", wants.network],
    ["Secrets", wants.secrets],
    ["Project", wants.project === "none" ? [] : [wants.project]],
    ["Isolation", wants.isolation === undefined ? [] : [wants.isolation]],
  ];
  const given = exact.filter(([, values]) => values.length > 0);
  return (
    <>
      <h3>What it wants</h3>
      {wants.words.length === 0 ? (
        <p class="muted">Nothing beyond its sandbox.</p>
      ) : (
        <ul class="requested">
          {wants.words.map((words) => (
            <li key={words}>
              <ForeignText text={words} limit={Infinity} />
            </li>
          ))}
        </ul>
      )}
      {expects.length > 0 && (
        <p class="muted">
          Its author expects the agent's tools: <ForeignText text={expects.join(", ")} limit={Infinity} />
        </p>
      )}
      {given.length > 0 && (
        <dl class="fields">
          {given.map(([name, values]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <ul class="values">
                  {values.map((value) => (
                    <li key={value}>
                      <code>
                        <ForeignText text={value} limit={Infinity} />
                      </code>
                    </li>
                  ))}
                </ul>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
