import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SourceList } from "../../wire/sources.ts";
import { SourceErrorAlert } from "../answers/failure.tsx";
import { useAnswer } from "../answers/use-answer.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icon.tsx";
import type { SkillServer } from "../source/skill-server.ts";
import { canAct, useBrowser } from "../state/browser.ts";
import { DiscoverForm } from "./sources/discover-form.tsx";
import { InstalledSkills } from "./sources/installed-skills.tsx";
import { OfferedSkills } from "./sources/offered-skills.tsx";
import { PlanReview } from "./sources/plan-review.tsx";
import { appliedWords, useInstalling } from "./sources/use-installing.ts";

const readSources = (server: SkillServer, signal: AbortSignal): Promise<SourceList> => server.sources(signal);

/** What is installed from elsewhere and whether it is as it was installed; installing more, and updates, each after a review. */
export function SourcesView(): JSX.Element {
  const { source } = useBrowser();
  const { answer, error, readAgain } = useAnswer(readSources, "skills");
  const installing = useInstalling(readAgain);
  const { doing, failed, found, planned, applied, plan, stop } = installing;
  const isAllowed = canAct(source);
  const result = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (applied !== undefined) result.current?.focus();
  }, [applied]);
  const isChecking = doing === "plan" && found === undefined;

  return (
    <div class="view sources">
      <h2>Sources</h2>
      {applied !== undefined && (
        <p ref={result} tabIndex={-1} class="good">
          <Icon name="check" /> <ForeignText text={appliedWords(applied)} />
        </p>
      )}
      <SourceErrorAlert error={error} />
      {answer?.places.map((one) => (
        <InstalledSkills
          key={one.place}
          of={one}
          isBusy={doing !== undefined}
          onUpdate={isAllowed ? () => plan({ place: one.place, update: [] }) : undefined}
        />
      ))}
      {isChecking && (
        <div class="bar">
          <span role="status">Asking the sources …</span>
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        </div>
      )}
      {planned === undefined && failed?.doing === "plan" && <SourceErrorAlert error={failed.error} />}
      {planned !== undefined && <PlanReview planned={planned} installing={installing} />}
      {isAllowed && <DiscoverForm installing={installing} />}
      {found !== undefined && <OfferedSkills key={found.offer.source} found={found} installing={installing} />}
    </div>
  );
}
