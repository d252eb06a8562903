import type { JSX } from "preact";
import type { SkillGrant } from "../../../wire/skills.ts";
import { Digest } from "../../parts/digest.tsx";
import { Time } from "../../answers/time.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";

interface Properties {
  readonly grants: readonly SkillGrant[];
  /** Absent where nothing can be decided. */
  readonly onRevoke: ((grant: string) => void) | undefined;
}

/** Every approval that stands, each for exact files. */
export function Grants({ grants, onRevoke }: Properties): JSX.Element | null {
  if (grants.length === 0) return null;
  return (
    <>
      <h3>Approvals</h3>
      <ul class="cards">
        {grants.map((grant) => (
          <li key={grant.id}>
            <p class="title">
              <span>
                Version <ForeignText text={grant.version} limit={80} />
              </span>
              <span class={`mark ${grant.isCurrent ? "good" : "muted"}`}>
                {grant.isCurrent ? "as installed now" : "other files than those installed now"}
              </span>
            </p>
            <p class="facts">
              <span>
                by <ForeignText text={grant.who} limit={80} />
              </span>
              <span>
                <Time at={Date.parse(grant.when)} />
              </span>
              <span>
                {grant.project === undefined ? "everywhere" : <ForeignText text={`in ${grant.project}`} limit={200} />}
              </span>
              {grant.expires !== undefined && (
                <span>
                  until <Time at={Date.parse(grant.expires)} />
                </span>
              )}
            </p>
            <ul class="requested">
              {grant.words.map((words) => (
                <li key={words}>
                  <ForeignText text={words} limit={Infinity} />
                </li>
              ))}
            </ul>
            <div class="bar">
              <Digest digest={grant.digest} what="digest of the approved files" />
              {onRevoke !== undefined && (
                <button type="button" class="button danger" onClick={() => onRevoke(grant.id)}>
                  Revoke …
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
