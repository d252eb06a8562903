import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { FacetName, Facets, FacetValue } from "../../../client/select.ts";
import type { SkillState } from "../../wire/skills.ts";
import { foreignText } from "../components/foreign-text.tsx";
import { useBrowser } from "../state/browser.ts";
import { stateDisplays } from "../components/state-mark.tsx";

/** Counts are updated when typing pauses, so that the list need not wait for them. */
const debounceMs = 150;

/** The facets that narrow the list, each value with the number of skills that it would leave. */
export function FacetPanel(): JSX.Element | null {
  const { shown, navigation } = useBrowser();
  const chosen = navigation.current.value.filter.facets;
  const counted = useSignal<Facets | undefined>(undefined);
  const facets = counted.value;
  useEffect(() => {
    const timer = setTimeout(() => void (counted.value = shown.facets.peek()), debounceMs);
    return () => clearTimeout(timer);
  }, [shown.rows.value]);
  // A facet whose every value occurs once narrows nothing.
  const useful = facetTitles.filter(
    ([facet]) =>
      facets !== undefined &&
      (chosen[facet] !== undefined || (facets[facet].length > 1 && facets[facet].some(({ count }) => count > 1))),
  );
  if (facets === undefined) return null;
  return (
    <div class="facets">
      {useful.map(([facet, title]) => (
        <Facet key={facet} facet={facet} title={title} values={facets[facet]} chosen={chosen[facet] ?? []} />
      ))}
    </div>
  );
}

/** The number of values shown at first; the user can show at most `maxShown`. */
const few = 7;
const maxShown = 200;

interface FacetProps {
  readonly facet: FacetName;
  readonly title: string;
  readonly values: readonly FacetValue[];
  readonly chosen: readonly string[];
}

function Facet({ facet, title, values, chosen }: FacetProps): JSX.Element {
  const { navigation } = useBrowser();
  const isWhole = useSignal(false);
  const toggle = (value: string): void => {
    const { filter } = navigation.current.value;
    const rest = chosen.filter((other) => other !== value);
    const next = rest.length < chosen.length ? rest : [...rest, value];
    const facets = Object.entries({ ...filter.facets, [facet]: next }).filter(([, values]) => values.length > 0);
    navigation.narrow({ ...filter, facets: Object.fromEntries(facets) });
  };
  const listed = isWhole.value
    ? values.slice(0, maxShown)
    : values.filter(({ value }, index) => index < few || chosen.includes(value));
  return (
    <fieldset>
      <legend>{title}</legend>
      {listed.map(({ value, count }) => (
        <label key={value} class="facet">
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          <span class={facet === "source" ? "value cut-start" : "value"} title={facetValueLabel(facet, value)}>
            {foreignText(facetValueLabel(facet, value), facet === "source" ? 400 : 80)}
          </span>
          <span class="count">{count}</span>
        </label>
      ))}
      {values.length > few && (
        <button
          type="button"
          class="more"
          aria-expanded={isWhole.value}
          onClick={() => (isWhole.value = !isWhole.value)}
        >
          {isWhole.value ? "Show fewer" : `Show all ${values.length}`}
          <span class="unseen"> values of {title}</span>
        </button>
      )}
    </fieldset>
  );
}

/** The titles of the facets, the most used first. */
const facetTitles: readonly (readonly [FacetName, string])[] = [
  ["state", "State"],
  ["kind", "Kind"],
  ["source", "Source"],
  ["license", "License"],
  ["compatibility", "This machine"],
  ["tools", "Allowed tools"],
  ["namespace", "Namespace"],
];

const compatibility: Readonly<Record<string, string>> = {
  met: "has what it needs",
  missing: "lacks something",
  unknown: "not known",
  unspecified: "nothing needed",
};

/** A value of a facet in words. */
function facetValueLabel(facet: FacetName, value: string): string {
  if (facet === "state" && Object.hasOwn(stateDisplays, value)) return stateDisplays[value as SkillState].words;
  if (facet === "compatibility") return compatibility[value] ?? value;
  return value === "" ? "none" : value;
}
