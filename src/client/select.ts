export { openSearch } from "./select/search-skills.ts";

/** The facets by which skills can be narrowed. `compatibility` is the verdict on the machine, not the text. */
export const facetNames = [
  "license",
  "compatibility",
  "tools",
  "namespace",
  "kind",
  "source",
  "state",
] as const satisfies string[];

/** A way to narrow skills. */
export type FacetName = (typeof facetNames)[number];

/** The chosen values: several of one facet mean any of them, several facets mean all of them. No values mean no choice. */
export type ChosenFacets = Readonly<Partial<Record<FacetName, readonly string[]>>>;

/** One value of a facet. */
export interface FacetValue {
  readonly value: string;
  /** How many skills have the value, of those that the choices in the other facets leave. */
  readonly count: number;
}

/** The values of all facets. */
export type Facets = Readonly<Record<FacetName, readonly FacetValue[]>>;

/** The facet value of skills without the fact. */
const unspecified = "unspecified";

/** The values of each facet, most frequent first. Chosen values without a remaining skill have a count of 0. */
export function facetsOf(skills: readonly SkillFacts[], chosen: ChosenFacets = {}): Facets {
  const counts = perFacet((name) => new Map<string, number>((chosen[name] ?? []).map((value) => [value, 0])));
  const active = activeChoices(chosen);
  for (const skill of skills) {
    const values = valuesOf(skill);
    const failed = active.filter(([name, wanted]) => !values[name].some((value) => wanted.has(value)));
    const [first] = failed;
    if (first === undefined) for (const name of facetNames) count(counts[name], values[name]);
    else if (failed.length === 1) count(counts[first[0]], values[first[0]]);
  }
  return perFacet((name) =>
    Array.from(counts[name], ([value, count]) => ({ value, count })).sort(
      (a, b) => b.count - a.count || (a.value < b.value ? -1 : 1),
    ),
  );
}

/** Returns a test for skills that satisfy the choices; for one skill, {@link matches}. */
export function matcherOf(chosen: ChosenFacets): (skill: SkillFacts) => boolean {
  const active = activeChoices(chosen);
  return (skill) => {
    if (active.length === 0) return true;
    const values = valuesOf(skill);
    return active.every(([name, wanted]) => values[name].some((value) => wanted.has(value)));
  };
}

/** Whether a skill satisfies the choices. */
export function matches(skill: SkillFacts, chosen: ChosenFacets): boolean {
  return matcherOf(chosen)(skill);
}

function activeChoices(chosen: ChosenFacets): readonly (readonly [FacetName, ReadonlySet<string>])[] {
  return facetNames.flatMap((name) => {
    const values = chosen[name] ?? [];
    return values.length === 0 ? [] : [[name, new Set(values)] as const];
  });
}

function perFacet<Value>(make: (name: FacetName) => Value): Record<FacetName, Value> {
  return Object.fromEntries(facetNames.map((name) => [name, make(name)])) as Record<FacetName, Value>;
}

function count(counts: Map<string, number>, values: readonly string[]): void {
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
}

type Values = Readonly<Record<FacetName, readonly string[]>>;

/** A cache: skills are immutable, and facets are counted at every keystroke. */
const known = /* @__PURE__ */ new WeakMap<SkillFacts, Values>();

function valuesOf(skill: SkillFacts): Values {
  const before = known.get(skill);
  if (before !== undefined) return before;
  const values: Values = {
    license: licenseFamilies(skill.license),
    compatibility: [skill.environment?.status ?? unspecified],
    tools: toolNames(skill.allowedTools ?? []),
    namespace: [skill.namespace ?? unspecified],
    kind: [skill.kind ?? unspecified],
    source: [skill.source ?? unspecified],
    state: [skill.state ?? "ok"],
  };
  known.set(skill, values);
  return values;
}

/** The names of tools without patterns: `Bash(git:*)` becomes `Bash`. */
function toolNames(tools: readonly string[]): readonly string[] {
  const names = tools.map((tool) => tool.replace(/\(.*$/su, "").trim()).filter(Boolean);
  return names.length === 0 ? [unspecified] : [...new Set(names)];
}

/** The facts of a skill that the selectors read; the skills of the store have them. */
export interface SkillFacts {
  /** The slug. */
  readonly name: string;
  readonly description: string;
  readonly canonicalName?: string | undefined;
  /** The name of the skill's directory, if it differs from `name`. */
  readonly folder?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: "instruction" | "action" | undefined;
  readonly namespace?: string | undefined;
  readonly source?: string | undefined;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  /** Whether the agent's machine has what the skill requires; absent if it requires nothing, or this is unknown. */
  readonly environment?:
    { readonly status: "met" | "missing" | "unknown"; readonly missing?: readonly string[] | undefined } | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** Why the skill cannot be used now; absent if it can. */
  readonly state?: string | undefined;
}

/** Families by the letters with which SPDX identifiers and common names of licenses begin. */
const families = ["MIT", "Apache", "BSD", "ISC", "MPL", "EPL", "GPL", "LGPL", "AGPL", "CC", "Unlicense"];

const maxLicense = 200;

/** The families of a license text: `MIT OR Apache-2.0` has two; a text without a known family is `other`. */
export function licenseFamilies(license: string | undefined): readonly string[] {
  const text = license?.slice(0, maxLicense).trim() ?? "";
  if (text === "") return ["unspecified"];
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const found = words.flatMap(
    (word) => families.find((family) => [word, word.replace(/v$/, "")].includes(family.toLowerCase())) ?? [],
  );
  return found.length === 0 ? ["other"] : [...new Set(found)];
}
