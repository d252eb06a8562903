import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/foreign-text.tsx";

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

/** A line of a JSON value that is shown as a tree. */
interface TreeRow {
  /** A JSON pointer; with `#more` behind it, the row that shows more of what is in it. */
  readonly path: string;
  /** 0 for the value itself. */
  readonly depth: number;
  /** The key or index in an object or array. */
  readonly name?: string;
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null" | "more";
  readonly text: string;
  /** Absent if it cannot be opened. */
  readonly isOpen?: boolean;
  /** Its place among its siblings, from 1, and how many there are. */
  readonly place: number;
  readonly siblings: number;
}

/** What a person has opened, and how many children of what they asked to see. */
interface OpenTree {
  readonly open: ReadonlySet<string>;
  readonly shown: ReadonlyMap<string, number>;
}

/** Children that are shown at first, and that are added each time. */
const childrenAtATime = 100;
const longestText = 2_000;

/** The lines of what is open. Nothing of what is closed is read. */
export function toRows(value: unknown, { open, shown }: OpenTree): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (inner: unknown, row: Pick<TreeRow, "path" | "depth" | "name" | "place" | "siblings">): void => {
    const { path, depth } = row;
    const children = childrenOf(inner);
    if (children === undefined) {
      rows.push({ ...row, ...scalar(inner) });
      return;
    }
    const isOpen = open.has(path);
    const kind = Array.isArray(inner) ? "array" : "object";
    rows.push({ ...row, kind, text: sizeOf(kind, children.count), ...(children.count > 0 && { isOpen }) });
    if (!isOpen) return;
    const most = shown.get(path) ?? childrenAtATime;
    const siblings = children.count;
    for (const [index, [name, child]] of children.first(most).entries())
      add(child, { path: `${path}/${escape(name)}`, depth: depth + 1, name, place: index + 1, siblings });
    const left = siblings - most;
    if (left > 0)
      rows.push({
        path: `${path}#more`,
        depth: depth + 1,
        kind: "more",
        text: `Show ${Math.min(left, childrenAtATime)} of ${left} more`,
        place: most + 1,
        siblings,
      });
  };
  add(value, { path: "", depth: 0, place: 1, siblings: 1 });
  return rows;
}

/** Where the row above in the tree is. */
export function parentRowPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(path.endsWith("#more") ? "#" : "/")));
}

interface Children {
  readonly count: number;
  readonly first: (most: number) => readonly (readonly [name: string, child: unknown])[];
}

function childrenOf(value: unknown): Children | undefined {
  if (Array.isArray(value))
    return {
      count: value.length,
      first: (most) => value.slice(0, most).map((child, index) => [String(index), child as unknown]),
    };
  if (typeof value !== "object" || value === null) return undefined;
  const names = Object.keys(value);
  return {
    count: names.length,
    first: (most) => names.slice(0, most).map((name) => [name, (value as Record<string, unknown>)[name]]),
  };
}

function scalar(value: unknown): Pick<TreeRow, "kind" | "text"> {
  if (typeof value === "string") {
    const text = toVisible(JSON.stringify(value.slice(0, longestText)), 4 * longestText);
    return { kind: "string", text: text + lengthOf(value) };
  }
  if (typeof value === "number" || typeof value === "boolean")
    return { kind: typeof value === "number" ? "number" : "boolean", text: String(value) };
  return { kind: "null", text: "null" };
}

function lengthOf({ length }: string): string {
  return length > longestText ? ` … ${length.toLocaleString("en")} characters` : "";
}

function sizeOf(kind: "object" | "array", count: number): string {
  if (count === 0) return kind === "array" ? "[ ]" : "{ }";
  const unit = kind === "array" ? "item" : "key";
  return `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;
}

function escape(name: string): string {
  return name.replace(/~/g, "~0").replace(/\//g, "~1");
}
