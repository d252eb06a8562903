import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { counted } from "../../../../../base/text/code-points.ts";
import { toVisible } from "../../../parts/foreign-text.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Tree, type TreeLine } from "../../../parts/tree.tsx";

/** A JSON value as a tree. */
export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  const [opened, setOpened] = useState<OpenTree>({ open: new Set([""]), shown: new Map() });
  const lines = useMemo(() => toLines(value, opened), [value, opened]);
  const act = ({ path, parent, kind, isOpen }: JsonLine): void => {
    const { shown } = opened;
    const open = new Set(opened.open);
    if (kind === "more")
      setOpened({ open, shown: new Map(shown).set(parent, (shown.get(parent) ?? childrenAtATime) + childrenAtATime) });
    else if (isOpen !== undefined) {
      if (!open.delete(path)) open.add(path);
      setOpened({ open, shown });
    }
  };
  return <Tree class="json-tree mono" label={label} lines={lines} onAct={act} Content={Value} />;
}

function Value({ line: { name, kind, text, isOpen } }: { readonly line: JsonLine }): JSX.Element {
  return (
    <>
      <span class={isOpen === true ? "twist open" : "twist"}>{isOpen !== undefined && <Icon name="right" />}</span>
      {name !== undefined && <bdi class="key">{toVisible(name, 200)}: </bdi>}
      <bdi class={`value ${kind}`}>{text}</bdi>
    </>
  );
}

/** A line of a JSON value that is shown as a tree. Its path is the JSON of the keys that lead there. */
interface JsonLine extends TreeLine {
  readonly parent: string;
  /** The key or index in an object or array. */
  readonly name?: string;
  /** `more`: shows more of what its parent has. It has the path of the first of them, so that the focus stays in its place. */
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null" | "more";
  readonly text: string;
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
export function toLines(value: unknown, { open, shown }: OpenTree): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const add = (inner: unknown, line: Omit<JsonLine, "kind" | "text">): void => {
    if (typeof inner !== "object" || inner === null) {
      lines.push({ ...line, ...scalar(inner) });
      return;
    }
    const { path, level } = line;
    const names = Object.keys(inner);
    const [kind, unit, empty] = Array.isArray(inner)
      ? (["array", "item", "[ ]"] as const)
      : (["object", "key", "{ }"] as const);
    const siblings = names.length;
    const isOpen = siblings === 0 ? undefined : open.has(path);
    lines.push({ ...line, kind, text: siblings === 0 ? empty : counted(siblings, unit), isOpen });
    if (isOpen !== true) return;
    const most = shown.get(path) ?? childrenAtATime;
    const childAt = (index: number, name: string): Omit<JsonLine, "kind" | "text"> => ({
      ...{ path: path + JSON.stringify(name), parent: path, level: level + 1, position: index + 1, siblings },
    });
    for (const [index, name] of names.slice(0, most).entries())
      add((inner as Readonly<Record<string, unknown>>)[name], { ...childAt(index, name), name });
    const next = names[most];
    if (next === undefined) return;
    const text = `Show ${Math.min(siblings - most, childrenAtATime)} of ${siblings - most} more`;
    lines.push({ ...childAt(most, next), kind: "more", text });
  };
  add(value, { path: "", parent: "", level: 1, position: 1, siblings: 1 });
  return lines;
}

function scalar(value: unknown): Pick<JsonLine, "kind" | "text"> {
  if (typeof value === "number" || typeof value === "boolean")
    return { kind: typeof value === "number" ? "number" : "boolean", text: String(value) };
  if (typeof value !== "string") return { kind: "null", text: "null" };
  const text = toVisible(JSON.stringify(value.slice(0, longestText)), 4 * longestText);
  const left = value.length > longestText ? ` … ${value.length.toLocaleString("en")} characters` : "";
  return { kind: "string", text: text + left };
}
