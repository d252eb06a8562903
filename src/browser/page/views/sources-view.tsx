import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SourceList, InstalledSkill } from "../../wire/sources.ts";
import { SourceErrorAlert, useAnswer } from "../components/server-answer.tsx";
import { ForeignList, foreignText, foreignName } from "../components/foreign-text.tsx";
import { Button, Icon } from "../components/icon.tsx";
import { Mark, type MarkDisplay } from "../components/state-mark.tsx";
import { canAct, useBrowser } from "../state/browser.ts";
import { OfferedSkills, stopButton } from "./sources/offered-skills.tsx";
import { PlanReview } from "./sources/plan-review.tsx";
import { scopeTitles, appliedWords, useInstalling, type InstallFlow } from "./sources/use-installing.ts";

/** The view of the installed skills and their state, where the user installs more and updates them, each after a review. */
export function SourcesView(): JSX.Element {
  const { source } = useBrowser();
  const { answer, error, readAgain } = useAnswer((server, signal) => server.sources(signal), [], "skills");
  const installing = useInstalling(readAgain);
  const { doing, failed, found, planned, applied, plan } = installing;
  const isAllowed = canAct(source);
  const result = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (applied !== undefined) result.current?.focus();
  }, [applied]);

  return (
    <div class="view sources">
      <h2>Sources</h2>
      {applied !== undefined && (
        <p ref={result} tabIndex={-1} class="good">
          <Icon name="check" /> {foreignText(appliedWords(applied))}
        </p>
      )}
      <SourceErrorAlert error={error} />
      {answer?.places.map((one) => {
        const update = isAllowed ? () => plan({ place: one.place, update: [] }) : undefined;
        return installedSkills(one, doing !== undefined, update);
      })}
      {found === undefined && doing === "plan" && (
        <div class="bar">
          <span role="status">Asking the sources …</span>
          {stopButton("plan", installing)}
        </div>
      )}
      {planned === undefined && failed?.doing === "plan" && <SourceErrorAlert error={failed.error} />}
      {planned !== undefined && <PlanReview planned={planned} installing={installing} />}
      {isAllowed && <DiscoverForm installing={installing} />}
      {found !== undefined && <OfferedSkills key={found.offer.source} found={found} installing={installing} />}
    </div>
  );
}

/** The form to enter a source, which is then read. */
function DiscoverForm({ installing }: { readonly installing: InstallFlow }): JSX.Element {
  const [text, setText] = useState("");
  const { doing, failed, discover } = installing;
  return (
    <section aria-labelledby="add-title">
      <h3 id="add-title">Add skills from a source</h3>
      <form
        class="discover"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") discover(text);
        }}
      >
        <label for="source">Source</label>
        <input
          id="source"
          class="typed"
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={2_048}
          required
          aria-describedby="source-forms"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button
          kind="primary"
          text={doing === "discover" ? "Reading …" : "Discover"}
          aria-disabled={doing !== undefined}
        />
        {stopButton("discover", installing)}
      </form>
      <p id="source-forms" class="muted">
        A domain or URL, <code>OWNER/REPO</code> of GitHub, <code>git:URL</code> or <code>registry:URL</code>. Its
        server is asked what it offers; nothing is installed before you have reviewed it.
      </p>
      {failed?.doing === "discover" && <SourceErrorAlert error={failed.error} />}
    </section>
  );
}

const displays: Readonly<Record<InstalledSkill["state"], MarkDisplay>> = {
  verified: { words: "verified", icon: "check", tone: "good" },
  modified: { words: "changed here", icon: "diff", tone: "warning" },
  missing: { words: "missing", icon: "cross", tone: "danger" },
  unknown: { words: "cannot be verified", icon: "question", tone: "muted" },
};

/** The skills of one lock, each with whether its files are as installed. `update` is absent if nothing can be changed. */
function installedSkills(
  { place, directory, fault, skills, more }: SourceList["places"][number],
  isBusy: boolean,
  update: (() => void) | undefined,
): JSX.Element {
  return (
    <section key={place} aria-label={scopeTitles[place]}>
      <div class="bar">
        <h3>
          {scopeTitles[place]} <span class="muted">{skills.length + more}</span>
        </h3>
        <code class="muted">{foreignText(directory)}</code>
        {update !== undefined && skills.length > 0 && (
          <Button text="Check for updates" aria-disabled={isBusy} onClick={update} />
        )}
      </div>
      {fault !== undefined && (
        <p class="failure">
          <Icon name="alert" /> {foreignText(fault, 1_000)}
        </p>
      )}
      {fault === undefined && skills.length === 0 && <p class="muted">Nothing was installed here from a source.</p>}
      <ul class="installed">{skills.map(installedSkill)}</ul>
      {more > 0 && <p class="muted">and {more} more</p>}
    </section>
  );
}

function installedSkill({ name, version, source, state, changes = [] }: InstalledSkill): JSX.Element {
  return (
    <li key={name}>
      <strong>{foreignName(name)}</strong> {version !== undefined && foreignText(version, 80)}
      <Mark {...displays[state]} />
      <span class="muted from">from {foreignText(source, 300)}</span>
      <ForeignList class="changes" texts={changes} limit={400} />
    </li>
  );
}
