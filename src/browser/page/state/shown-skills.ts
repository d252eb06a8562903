import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { type Facets, facetsOf, matcherOf, openSearch } from "../../../client/select.ts";
import type { SkillRow } from "../../wire/skills.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import type { PageNavigation } from "./location.ts";

/** The list as narrowed by search and facets, with the active row and the scroll position. */
export interface SkillListState {
  readonly rows: ReadonlySignal<readonly SkillRow[]>;
  readonly facets: ReadonlySignal<Facets>;
  /** The id of the row from which arrow keys move; it does not change when rows are added or removed. */
  readonly active: Signal<string | undefined>;
  /** The scroll position of the list in pixels, restored when it is shown again. */
  scrollTop: number;
  close(): void;
}

/** The milliseconds after which the search is prepared: after the list was painted, before the user types. */
const prepareAfter = 300;

const nothing: readonly SkillRow[] = [];

export function createSkillListState({ list }: BrowserSkillSource, { current }: PageNavigation): SkillListState {
  const filter = computed(() => current.value.filter);
  const search = computed(() => openSearch(list.value?.skills ?? nothing));
  const found = computed(() => search.value(filter.value.query));
  const rows = computed(() => {
    const { facets } = filter.value;
    return Object.keys(facets).length === 0 ? found.value : found.value.filter(matcherOf(facets));
  });
  const stopPreparing = effect(() => {
    const find = search.value;
    const timer = setTimeout(() => find("e"), prepareAfter);
    return () => clearTimeout(timer);
  });
  return {
    rows,
    close: stopPreparing,
    facets: computed(() => facetsOf(found.value, filter.value.facets)),
    active: signal(undefined),
    scrollTop: 0,
  };
}
