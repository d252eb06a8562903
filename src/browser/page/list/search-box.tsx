import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
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
  const { places, isPage } = useBrowser();
  const { filter, route } = places.current.value;
  const input = useRef<HTMLInputElement>(null);
  // A page of its own opens ready to search; inside another page, the focus is not ours to take.
  useEffect(() => {
    if (isPage && !(route.view === "skills" && route.skill !== undefined))
      input.current?.focus({ preventScroll: true });
  }, []);
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
        ref={input}
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
