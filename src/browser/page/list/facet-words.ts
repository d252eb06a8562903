import type { FacetName } from "../../../client/select/facets.ts";
import { stateDisplays, type StateDisplay } from "../parts/skill-states.ts";

/** What facets are called, in the order of their use. */
export const facetTitles: readonly (readonly [FacetName, string])[] = [
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

/** A value of a facet as people read it. */
export function facetValueLabel(facet: FacetName, value: string): string {
  if (facet === "state") return new Map<string, StateDisplay>(Object.entries(stateDisplays)).get(value)?.words ?? value;
  if (facet === "compatibility") return compatibility[value] ?? value;
  return value === "" ? "none" : value;
}
