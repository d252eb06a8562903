import type { JSX, RefObject } from "preact";
import { Icon } from "../parts/icon.tsx";
import { useBrowser } from "../state/browser.ts";

/** Narrows the list at every key. Arrow down goes into the list, Enter opens its first skill, Escape clears. */
export function SearchBox({
  list,
  onOpenFirst,
}: {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly onOpenFirst: () => void;
}): JSX.Element {
  const { places } = useBrowser();
  const { filter } = places.current.value;
  const press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") list.current?.focus();
    else if (event.key === "Enter") onOpenFirst();
    else if (event.key === "Escape" && filter.query !== "") places.narrow({ ...filter, query: "" });
    else return;
    event.preventDefault();
  };
  return (
    <label class="search">
      <span class="unseen">Search skills</span>
      <Icon name="search" />
      <input
        type="search"
        placeholder="Search skills"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={filter.query}
        onInput={(event) => {
          places.narrow({ ...filter, query: event.currentTarget.value });
        }}
        onKeyDown={press}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}
