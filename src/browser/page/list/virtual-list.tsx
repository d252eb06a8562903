import { useSignal, type Signal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { SkillRow } from "../../wire/skills.ts";

interface VirtualListProps {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly rows: readonly SkillRow[];
  /** Equal while only the skills change: the list then stays where it is. Otherwise it begins at its start. */
  readonly narrowing: unknown;
  readonly active: Signal<string | undefined>;
  readonly opened: string | undefined;
  readonly place: { scrollTop: number };
  readonly onOpen: (row: SkillRow) => void;
  readonly Row: (props: { readonly row: SkillRow }) => JSX.Element;
}

/** Pixels; `.row` in `look/list.css` has the same height. */
const rowHeight = 58;

/** A listbox that renders only the rows in view. Screen readers hear each row's number and the length of the whole list. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { box, rows, active, opened, onOpen, Row } = props;
  const view = useView(props);
  const activeNumber = active.value === undefined ? -1 : rows.findIndex(({ id }) => id === active.value);

  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[activeNumber];
    const next = moveBy(event.key, activeNumber, rows.length, Math.max(1, view.inView - 1));
    if ((event.key === "Enter" || event.key === " ") && row !== undefined) onOpen(row);
    else if (next !== undefined) {
      active.value = rows[next]?.id;
      view.reveal(next);
    } else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      class="rows"
      role="listbox"
      tabIndex={0}
      aria-label="Skills"
      aria-activedescendant={activeNumber === -1 ? undefined : `row-${activeNumber}`}
      onKeyDown={press}
      onFocus={() => {
        if (activeNumber === -1) active.value = rows[view.first]?.id;
      }}
      onScroll={view.onScroll}
    >
      <div class="runway" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {visibleRows(rows.length, view.first, view.inView, activeNumber).map((number) => {
          const row = rows[number];
          return (
            row && (
              <div
                key={row.id}
                id={`row-${number}`}
                class={number === activeNumber ? "row active" : "row"}
                role="option"
                aria-selected={row.id === opened}
                aria-posinset={number + 1}
                aria-setsize={rows.length}
                style={{ transform: `translateY(${number * rowHeight}px)` }}
                onClick={() => {
                  active.value = row.id;
                  onOpen(row);
                }}
              >
                <Row row={row} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface View {
  readonly first: number;
  readonly inView: number;
  readonly reveal: (number: number) => void;
  readonly onScroll: () => void;
}

/** What is in view; keeps it there while rows come and go above it. */
function useView({ box, rows, narrowing, active, place }: VirtualListProps): View {
  const first = useSignal(Math.floor(place.scrollTop / rowHeight));
  const inView = useSignal(Math.ceil(window.innerHeight / rowHeight));
  const before = useRef({ rows, narrowing });

  const scrollTo = (top: number): void => {
    if (box.current === null) return;
    box.current.scrollTop = top;
    place.scrollTop = box.current.scrollTop;
    first.value = Math.floor(place.scrollTop / rowHeight);
  };
  const reveal = (number: number): void => {
    const height = box.current?.clientHeight ?? 0;
    const top = number * rowHeight;
    if (top < place.scrollTop) scrollTo(top);
    else if (top + rowHeight > place.scrollTop + height) scrollTo(top + rowHeight - height);
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      inView.value = Math.ceil(element.clientHeight / rowHeight) + 1;
    };
    measure();
    scrollTo(place.scrollTop);
    const number = rows.findIndex(({ id }) => id === active.value);
    if (number !== -1) reveal(number);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    const last = before.current;
    before.current = { rows, narrowing };
    if (last.narrowing !== narrowing) scrollTo(0);
    else if (last.rows !== rows && place.scrollTop > 0) {
      const top = Math.floor(place.scrollTop / rowHeight);
      scrollTo(anchorAfter(last.rows, rows, top) * rowHeight + (place.scrollTop % rowHeight));
    }
  }, [rows, narrowing]);

  return {
    first: first.value,
    inView: inView.value,
    reveal,
    onScroll: () => {
      place.scrollTop = box.current?.scrollTop ?? 0;
      first.value = Math.floor(place.scrollTop / rowHeight);
    },
  };
}

/** The numbers of the rows that are rendered: those in view, some beyond, and the active one wherever it is. */
function visibleRows(total: number, first: number, inView: number, active: number): readonly number[] {
  const from = Math.max(0, Math.min(first, total) - beyond);
  const to = Math.min(total, first + inView + beyond);
  const numbers = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
  if (active >= 0 && active < from) return [active, ...numbers];
  return active >= to && active < total ? [...numbers, active] : numbers;
}

/** Rows rendered above and below the view, so that scrolling does not show gaps. */
const beyond = 6;

interface Identified {
  readonly id: string;
}

/** Where the row at `first` is after a change; if it is gone, the nearest one below it that is still there, then above it. */
function anchorAfter(before: readonly Identified[], after: readonly Identified[], first: number): number {
  const places = new Map(after.map(({ id }, place) => [id, place]));
  for (const { id } of before.slice(first)) {
    const place = places.get(id);
    if (place !== undefined) return place;
  }
  for (const { id } of before.slice(0, first).reverse()) {
    const place = places.get(id);
    if (place !== undefined) return place;
  }
  return 0;
}

/** Where a key moves from the row at `active` (-1: none); undefined if it is not a key of lists. */
function moveBy(key: string, active: number, total: number, screenful: number): number | undefined {
  const last = total - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(last, active + 1);
    case "ArrowUp":
      return active < 0 ? last : Math.max(0, active - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
      return Math.min(last, Math.max(0, active) + screenful);
    case "PageUp":
      return Math.max(0, active - screenful);
    default:
      return undefined;
  }
}
