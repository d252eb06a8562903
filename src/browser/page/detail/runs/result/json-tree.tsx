import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/visible-text.ts";
import { childrenAtATime, parentRowPath, toRows, type OpenTree, type TreeRow } from "./tree-rows.ts";

/** A JSON value as a tree: arrow keys move, open and close. */
export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  const [opened, setOpened] = useState<OpenTree>({ open: new Set([""]), shown: new Map() });
  const [current, setCurrent] = useState("");
  const tree = useRef<HTMLUListElement>(null);
  const rows = useMemo(() => toRows(value, opened), [value, opened]);
  const at = Math.max(
    0,
    rows.findIndex(({ path }) => path === current),
  );

  const focus = (path: string | undefined): void => {
    if (path === undefined) return;
    setCurrent(path);
    // After the row has its tab stop.
    queueMicrotask(() => {
      for (const row of tree.current?.children ?? [])
        if (row instanceof HTMLElement && row.dataset["path"] === path) row.focus();
    });
  };
  const act = ({ path, kind, isOpen }: TreeRow): void => {
    if (kind === "more") {
      const parent = parentRowPath(path);
      const shown = opened.shown.get(parent) ?? childrenAtATime;
      setOpened({ ...opened, shown: new Map(opened.shown).set(parent, shown + childrenAtATime) });
      // The first of those that it showed has its place.
      setCurrent(rows[at - 1]?.path ?? parent);
    } else if (isOpen !== undefined) {
      const open = new Set(opened.open);
      if (isOpen) open.delete(path);
      else open.add(path);
      setOpened({ ...opened, open });
    }
  };
  const press = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves: Readonly<Record<string, (() => void) | undefined>> = {
      ArrowDown: () => focus(rows[at + 1]?.path),
      ArrowUp: () => focus(rows[at - 1]?.path),
      Home: () => focus(rows[0]?.path),
      End: () => focus(rows.at(-1)?.path),
      ArrowRight: () => (row.isOpen === false ? act(row) : row.isOpen === true && focus(rows[at + 1]?.path)),
      ArrowLeft: () => (row.isOpen === true ? act(row) : row.depth > 0 && focus(parentRowPath(row.path))),
      Enter: () => act(row),
      " ": () => act(row),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  return (
    <ul class="json-tree mono" role="tree" aria-label={label} ref={tree} onKeyDown={press}>
      {rows.map((row) => (
        <li
          key={row.path}
          role="treeitem"
          data-path={row.path}
          aria-level={row.depth + 1}
          aria-posinset={row.place}
          aria-setsize={row.siblings}
          aria-expanded={row.isOpen}
          aria-selected={row.path === current}
          tabIndex={row === rows[at] ? 0 : -1}
          style={{ "--depth": String(row.depth) }}
          onFocus={() => setCurrent(row.path)}
          onClick={() => act(row)}
        >
          <span class={row.isOpen === true ? "twist open" : "twist"}>
            {row.isOpen !== undefined && <Icon name="right" />}
          </span>
          {row.name !== undefined && <bdi class="key">{toVisible(row.name, 200)}: </bdi>}
          <bdi class={`value ${row.kind}`}>{row.text}</bdi>
        </li>
      ))}
    </ul>
  );
}
