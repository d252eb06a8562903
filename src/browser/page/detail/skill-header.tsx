import type { JSX } from "preact";
import { ForeignName, ForeignText } from "../parts/foreign-text.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import type { KnownDetail } from "../source/skill-source.ts";

/** What a skill is called, what it is, where it comes from. */
export function SkillHeader({ detail: { row, installed } }: { readonly detail: KnownDetail }): JSX.Element {
  return (
    <header class="skill-header">
      <div>
        <h2>
          <ForeignName name={row.name} />
        </h2>
        <p class="facts">
          <StateMark state={row.state} />
          <span>{row.kind}</span>
          {row.version !== "" && (
            <span>
              version <ForeignText text={row.version} limit={40} />
            </span>
          )}
          {row.canonicalName !== undefined && (
            <span>
              called <ForeignText text={row.canonicalName} limit={80} />
            </span>
          )}
          <span>
            from <ForeignText text={installed?.source ?? row.source} limit={120} />
            {installed?.isModified === true && ", changed here since it was installed"}
          </span>
        </p>
      </div>
    </header>
  );
}
