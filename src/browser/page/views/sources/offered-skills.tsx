import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { openSearch } from "../../../../client/select.ts";
import type { Discovered, ScopeName } from "../../../wire/sources.ts";
import { ForeignList, foreignName, foreignText } from "../../components/foreign-text.tsx";
import { counted } from "../../../../base/text/code-points.ts";
import { scopeTitles, type InstallFlow } from "./use-installing.ts";
import { Button } from "../../components/icon.tsx";

/** The maximum number of skills in one plan of the server. */
const maxChosen = 50;
const filteredFrom = 12;
const scopes = Object.keys(scopeTitles) as readonly ScopeName[];

interface OfferedSkillsProps {
  readonly found: NonNullable<InstallFlow["found"]>;
  readonly installing: InstallFlow;
}

/** The skills that a source offers, to choose from, and the scope to install them in. */
export function OfferedSkills({ found: { source, offer }, installing }: OfferedSkillsProps): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [scope, setScope] = useState<ScopeName>("project");
  const [words, setWords] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { doing, plan } = installing;
  const isTooMany = chosen.size > maxChosen;
  const canPlan = doing === undefined && chosen.size > 0 && !isTooMany;
  const search = useMemo(() => openSearch(offer.skills), [offer]);
  const shown = search(words);

  const choose = (name: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(name);
    else next.delete(name);
    setChosen(next);
  };

  return (
    <section aria-labelledby="offered-title">
      <h3 id="offered-title" ref={heading} tabIndex={-1}>
        {foreignText(offer.source, 300)} <span class="muted">{counted(offer.skills.length + offer.more, "skill")}</span>
      </h3>
      <ForeignList class="problems warning" texts={offer.problems} limit={1_000} />
      {offer.skills.length > filteredFrom && (
        <label>
          Filter{" "}
          <input
            class="typed"
            type="search"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </label>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (canPlan) plan({ place: scope, source, names: [...chosen] });
        }}
      >
        <fieldset class="offered">
          <legend>Skills to install</legend>
          {shown.map((skill) => offeredSkill(skill, chosen.has(skill.name), choose))}
          {offer.more > 0 && <p class="muted">and {offer.more} more, which acp-skills discover lists</p>}
        </fieldset>
        {offer.skills.length > 0 && (
          <>
            <fieldset class="where">
              <legend>Where</legend>
              {scopes.map((one) => (
                <label key={one}>
                  <input type="radio" name="place" checked={scope === one} onChange={() => setScope(one)} />
                  {scopeTitles[one]}
                </label>
              ))}
            </fieldset>
            <div class="bar">
              <Button
                kind="primary"
                text={doing === "plan" ? "Downloading …" : `Review ${counted(chosen.size, "skill")}`}
                aria-disabled={!canPlan}
              />
              {stopButton("plan", installing)}
              {isTooMany && <span class="warning">Choose at most {maxChosen} at a time.</span>}
            </div>
          </>
        )}
      </form>
    </section>
  );
}

function offeredSkill(
  { name, description, version, installed, unusable }: Discovered["skills"][number],
  isChosen: boolean,
  choose: (name: string, isChosen: boolean) => void,
): JSX.Element {
  return (
    <label key={name}>
      <input
        type="checkbox"
        checked={isChosen}
        disabled={unusable !== undefined}
        onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
      />
      <span>
        <strong>{foreignName(name)}</strong> {version !== undefined && foreignText(version, 80)}{" "}
        {installed.map((scope) => (
          <span key={scope} class="chip">
            {scope === "project" ? "installed in this project" : "installed for you"}
          </span>
        ))}
        <span class="description">{foreignText(description, 300)}</span>
        {unusable !== undefined && <span class="warning">Cannot be installed: {foreignText(unusable)}</span>}
      </span>
    </label>
  );
}

/** A button that stops a step; undefined unless that step is being done. */
export function stopButton(step: InstallFlow["doing"], { doing, stop }: InstallFlow): JSX.Element | undefined {
  return doing === step ? <Button text="Stop" onClick={stop} /> : undefined;
}
