import { useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button, Icon, Empty } from "../components/icon.tsx";
import { useBrowser } from "../state/browser.ts";
import { noFilter } from "../state/location.ts";
import { FacetPanel } from "./facet-panel.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { foreignText } from "../components/foreign-text.tsx";

interface ListPaneProps {
  readonly list: RefObject<HTMLDivElement | null>;
}

/** The search, the filters, and the skills that match both. */
export function ListPane({ list }: ListPaneProps): JSX.Element {
  const { source, shown, navigation } = useBrowser();
  const hasFacets = useSignal(false);
  const rows = shown.rows.value;
  const { filter } = navigation.current.value;
  const total = source.list.value?.skills.length ?? 0;
  const choices = Object.values(filter.facets).flat().length;
  const openFirst = (): void => {
    const first = rows.find(({ id }) => id === shown.active.value) ?? rows[0];
    if (first !== undefined) navigation.open({ view: "skills", skill: first.id });
  };

  return (
    <section class={hasFacets.value ? "list-pane has-facets" : "list-pane"} aria-label="List of skills">
      <div class="list-tools">
        <SearchBox list={list} onOpenFirst={openFirst} />
        <button
          type="button"
          class="button filters"
          aria-expanded={hasFacets.value}
          onClick={() => (hasFacets.value = !hasFacets.value)}
        >
          <Icon name="filter" />
          Filters
          {choices > 0 && <span class="chip">{choices}</span>}
        </button>
      </div>
      <section class="facet-pane" aria-label="Filters">
        <FacetPanel />
      </section>
      <div class="count-line">
        <p role="status">
          {source.list.value === undefined
            ? ""
            : `${rows.length.toLocaleString("en")} of ${total.toLocaleString("en")} skills`}
        </p>
        {(choices > 0 || filter.query !== "") && (
          <Button kind="plain" text="Clear" onClick={() => navigation.narrow(noFilter)} />
        )}
      </div>
      <MayBeMissing />
      {rows.length === 0 ? <EmptyList /> : <VirtualList box={list} />}
    </section>
  );
}

/** Warns of missing skills: unread directories, and connections without a request for skills, whose agents announce at most commands. */
function MayBeMissing(): JSX.Element | null {
  const { list, notAsked } = useBrowser().source;
  const unread = list.value?.unread ?? [];
  const agents = notAsked?.value ?? [];
  if (unread.length + agents.length === 0) return null;
  return (
    <p class="unread warning">
      <Icon name="alert" />
      <span>
        Skills may be missing.
        {unread.length > 0 && ` These places could not be read whole: ${unread.slice(0, 5).join(", ")}`}
        {agents.length > 0 && (
          <>
            {" "}
            These connections did not ask for them with <code>optIn()</code> of <code>acp-skills/client</code>:{" "}
            {foreignText(agents.slice(0, 5).join(", "))}
          </>
        )}
      </span>
    </p>
  );
}

interface SearchBoxProps extends ListPaneProps {
  readonly onOpenFirst: () => void;
}

/** Narrows the list at every key. Arrow down focuses the list, Enter opens its active or first skill, Escape clears the search. */
function SearchBox({ list, onOpenFirst }: SearchBoxProps): JSX.Element {
  const { navigation, isPage } = useBrowser();
  const { filter, route } = navigation.current.value;
  const input = useRef<HTMLInputElement>(null);
  // The browser's own page opens ready to search; inside another page, the browser must not take the focus.
  useEffect(() => {
    if (isPage && !(route.view === "skills" && route.skill !== undefined))
      input.current?.focus({ preventScroll: true });
  }, []);
  const press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") list.current?.focus();
    else if (event.key === "Enter") onOpenFirst();
    else if (event.key === "Escape" && filter.query !== "") navigation.narrow({ ...filter, query: "" });
    else return;
    event.preventDefault();
  };
  return (
    <label class="search">
      <span class="unseen">Search skills</span>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        placeholder="Search skills"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={filter.query}
        onInput={({ currentTarget }) => navigation.narrow({ ...filter, query: currentTarget.value })}
        onKeyDown={press}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}

/** Why there is nothing in the list. */
function EmptyList(): JSX.Element {
  const { source, navigation } = useBrowser();
  const list = source.list.value;
  const status = source.connection.value;
  if (list === undefined && status === "refused")
    return <Empty icon="ban" title="This page has no access to the server" />;
  if (list === undefined && status === "lost") return <Empty icon="plug" title="The server does not answer" />;
  if (list === undefined) return <Empty icon="book" title="Reading skills…" isLate />;
  if (list.skills.length > 0)
    return (
      <Empty icon="search" title="No skill matches">
        <p>Fewer words or filters find more.</p>
        <Button text={`Show all ${list.skills.length} skills`} onClick={() => navigation.narrow(noFilter)} />
      </Empty>
    );
  return (
    <Empty icon="book" title="There are no skills yet">
      <p>
        A directory with a <code>SKILL.md</code> in <code>.agents/skills</code> of the project, or in{" "}
        <code>~/.agents/skills</code>, appears here as soon as it is saved.
      </p>
    </Empty>
  );
}
