import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { type Facets, facetsOf, matcherOf, openSearch } from "../../../client/select.ts";
import type { SkillRow } from "../../wire/skills.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import type { PageNavigation } from "./location.ts";

/** The list as it is narrowed by search and facets, and where a person is in it. */
export interface SkillListState {
  readonly rows: ReadonlySignal<readonly SkillRow[]>;
  readonly facets: ReadonlySignal<Facets>;
  /** The row that arrow keys move from, by id: it stays the same when rows come and go. */
  readonly active: Signal<string | undefined>;
  /** The scroll position of the list in pixels, restored when it is shown again. */
  scrollTop: number;
  close(): void;
}

/** After the list was painted: the first letter that a person types finds the texts prepared. */
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
