import type { JSX } from "preact";
import type { InstalledSkill, InstallPlace, SourceList } from "../../../wire/sources.ts";
import { ForeignName, ForeignText } from "../../parts/foreign-text.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";

export const placeTitles: Readonly<Record<InstallPlace, string>> = {
  project: "In this project",
  global: "For you, in every project",
};

const displays: Readonly<Record<InstalledSkill["state"], { words: string; icon: IconName; tone: string }>> = {
  verified: { words: "verified", icon: "check", tone: "good" },
  modified: { words: "changed here", icon: "diff", tone: "warning" },
  missing: { words: "missing", icon: "cross", tone: "danger" },
  unknown: { words: "cannot be verified", icon: "question", tone: "muted" },
};

interface Properties {
  readonly of: SourceList["places"][number];
  /** Absent where nothing can be changed. */
  readonly onUpdate: (() => void) | undefined;
  readonly isBusy: boolean;
}

/** What one lock names, and whether its files are as they were installed. */
export function InstalledSkills({ of, onUpdate, isBusy }: Properties): JSX.Element {
  const { place, directory, fault, skills, more } = of;
  return (
    <section aria-label={placeTitles[place]}>
      <div class="bar">
        <h3>
          {placeTitles[place]} <span class="muted">{skills.length + more}</span>
        </h3>
        <code class="muted">
          <ForeignText text={directory} />
        </code>
        {onUpdate !== undefined && skills.length > 0 && (
          <button type="button" class="button" aria-disabled={isBusy} onClick={onUpdate}>
            Check for updates
          </button>
        )}
      </div>
      {fault !== undefined && (
        <p class="failure">
          <Icon name="alert" /> <ForeignText text={fault} limit={1_000} />
        </p>
      )}
      {fault === undefined && skills.length === 0 && <p class="muted">Nothing was installed here from a source.</p>}
      <ul class="installed">
        {skills.map((skill) => (
          <li key={skill.name}>
            <Installed skill={skill} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted">and {more} more</p>}
    </section>
  );
}

function Installed({ skill }: { readonly skill: InstalledSkill }): JSX.Element {
  const { name, version, source, state, changes = [] } = skill;
  const { words, icon, tone } = displays[state];
  return (
    <>
      <strong>
        <ForeignName name={name} />
      </strong>{" "}
      {version !== undefined && <ForeignText text={version} limit={80} />}
      <span class={`mark ${tone}`}>
        <Icon name={icon} />
        {words}
      </span>
      <span class="muted from">
        from <ForeignText text={source} limit={300} />
      </span>
      {changes.length > 0 && (
        <ul class="changes">
          {changes.map((change) => (
            <li key={change}>
              <ForeignText text={change} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
