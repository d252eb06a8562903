import { useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { SkillRow } from "../../wire/skills.ts";
import { foreignName, foreignText } from "../components/foreign-text.tsx";
import { toShortNumber } from "../components/formats.tsx";
import { Icon } from "../components/icon.tsx";
import { Mark, stateDisplays } from "../components/state-mark.tsx";
import { useBrowser } from "../state/browser.ts";

interface VirtualListProps {
  readonly box: RefObject<HTMLDivElement | null>;
}

/** The height in pixels; `.row` in `styles/list.css` has the same one. */
const rowHeight = 58;

/** A listbox that renders only the rows in view. Screen readers announce each row's number and the length of the whole list. */
export function VirtualList({ box }: VirtualListProps): JSX.Element {
  const { shown, navigation } = useBrowser();
  const { active, rows: list } = shown;
  const { route } = navigation.current.value;
  const open = (skill: string): void => navigation.open({ view: "skills", skill });
  const rows = list.value;
  const view = useView(box);
  const activeNumber = rows.findIndex(({ id }) => id === active.value);

  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[activeNumber];
    const next = moveBy(event.key, activeNumber, rows.length, Math.max(1, view.inView - 1));
    if ((event.key === "Enter" || event.key === " ") && row !== undefined) open(row.id);
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
                aria-selected={route.view === "skills" && row.id === route.skill}
                aria-posinset={number + 1}
                aria-setsize={rows.length}
                style={{ transform: `translateY(${number * rowHeight}px)` }}
                onClick={() => {
                  active.value = row.id;
                  open(row.id);
                }}
              >
                {skillLine(row)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** One line of the list: the kind, name, source, description, state and tokens of a skill. */
function skillLine({ name, description, kind, source, state, tokens }: SkillRow): JSX.Element {
  return (
    <>
      <span class={`kind ${kind}`}>
        <Icon name={kind === "action" ? "bolt" : "book"} />
        <span class="kind-word">{kind}</span>
      </span>
      <span class="name">{foreignName(name)}</span>
      <span class="source cut-start">{foreignText(source)}</span>
      <span class="description">{foreignText(description)}</span>
      <span class={`state ${state}`}>
        <Mark {...stateDisplays[state]} />
      </span>
      <span class="tokens" title={`${tokens.listed} tokens in lists, ${tokens.instructions} when read (estimates)`}>
        {tokens.instructions > 0 && `${toShortNumber(tokens.instructions)} tokens`}
      </span>
    </>
  );
}

/** Tracks the rows in view, and holds them in view while rows above them are added or removed. A narrowed list begins at its start. */
function useView(box: VirtualListProps["box"]) {
  const { shown, navigation } = useBrowser();
  const rows = shown.rows.value;
  const { filter } = navigation.current.value;
  const first = useSignal(Math.floor(shown.scrollTop / rowHeight));
  const inView = useSignal(Math.ceil(window.innerHeight / rowHeight));
  const before = useRef({ rows, filter });

  const onScroll = (): void => {
    shown.scrollTop = box.current?.scrollTop ?? 0;
    first.value = Math.floor(shown.scrollTop / rowHeight);
  };
  const scrollTo = (top: number): void => {
    if (box.current === null) return;
    box.current.scrollTop = top;
    onScroll();
  };
  const reveal = (number: number): void => {
    const height = box.current?.clientHeight ?? 0;
    const top = number * rowHeight;
    if (top < shown.scrollTop) scrollTo(top);
    else if (top + rowHeight > shown.scrollTop + height) scrollTo(top + rowHeight - height);
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => void (inView.value = Math.ceil(element.clientHeight / rowHeight) + 1);
    measure();
    scrollTo(shown.scrollTop);
    const number = rows.findIndex(({ id }) => id === shown.active.value);
    if (number !== -1) reveal(number);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const last = before.current;
    before.current = { rows, filter };
    if (last.filter !== filter) scrollTo(0);
    else if (last.rows !== rows && shown.scrollTop > 0) {
      const top = Math.floor(shown.scrollTop / rowHeight);
      scrollTo(anchorAfter(last.rows, rows, top) * rowHeight + (shown.scrollTop % rowHeight));
    }
  }, [rows, filter]);

  return { first: first.value, inView: inView.value, reveal, onScroll };
}

/** The numbers of the rows to render: the rows in view, `beyond` rows on both sides, and the active row. */
function visibleRows(total: number, first: number, inView: number, active: number): readonly number[] {
  const from = Math.max(0, Math.min(first, total) - beyond);
  const to = Math.min(total, first + inView + beyond);
  const numbers = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
  return active === -1 || (active >= from && active < to) ? numbers : [...numbers, active];
}

/** Rows rendered above and below the view, so that scrolling does not show gaps. */
const beyond = 6;

/** The new index of the row at `first`; if that row is gone, of the nearest remaining row below it, else above it. */
function anchorAfter(before: readonly SkillRow[], after: readonly SkillRow[], first: number): number {
  const indexes = new Map(after.map(({ id }, index) => [id, index]));
  const nearest = [...before.slice(first), ...before.slice(0, first).reverse()].find(({ id }) => indexes.has(id));
  return (nearest && indexes.get(nearest.id)) ?? 0;
}

/** The index to which a key moves from the row at `active` (-1: none); undefined for a key that does not move. */
function moveBy(key: string, active: number, total: number, screenful: number): number | undefined {
  const last = total - 1;
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(last, active + 1),
    ArrowUp: active < 0 ? last : Math.max(0, active - 1),
    Home: 0,
    End: last,
    PageDown: Math.min(last, Math.max(0, active) + screenful),
    PageUp: Math.max(0, active - screenful),
  };
  return moves[key];
}
