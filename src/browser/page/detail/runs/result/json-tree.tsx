import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../../../../base/text/code-points.ts";
import { toVisible } from "../../../components/foreign-text.tsx";

/** The number of children shown at first, and added each time. */
const childrenAtATime = 100;
const maxTextLength = 2_000;

interface JsonTreeProps {
  readonly value: unknown;
  /** The key or index in an object or array; absent for the whole value, which is open at first. */
  readonly name?: string;
}

/** A JSON value as a tree. Values inside a closed node are not read. */
export function JsonTree({ value, name }: JsonTreeProps): JSX.Element {
  const isWhole = name === undefined;
  const [isOpen, setIsOpen] = useState(isWhole);
  const [max, setMax] = useState(childrenAtATime);
  const shown = (kind: string, text: string): JSX.Element => (
    <>
      {!isWhole && <bdi class="key">{toVisible(name, 200)}: </bdi>}
      <bdi class={`value ${kind}`}>{text}</bdi>
    </>
  );
  if (typeof value !== "object" || value === null) return <p>{shown(typeof value, scalarText(value))}</p>;
  const children = Object.keys(value);
  const [unit, empty] = Array.isArray(value) ? ["item", "[ ]"] : ["key", "{ }"];
  if (children.length === 0) return <p>{shown("object", empty)}</p>;
  const left = children.length - max;
  return (
    <details open={isWhole} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{shown("object", counted(children.length, unit))}</summary>
      {isOpen &&
        children
          .slice(0, max)
          .map((child) => (
            <JsonTree key={child} name={child} value={(value as Readonly<Record<string, unknown>>)[child]} />
          ))}
      {isOpen && left > 0 && (
        <button type="button" class="more" onClick={() => setMax(max + childrenAtATime)}>
          Show {Math.min(left, childrenAtATime)} of {left} more
        </button>
      )}
    </details>
  );
}

/** A value without children as JSON, cut if it is long. */
export function scalarText(value: unknown): string {
  if (typeof value !== "string") return String(value);
  const text = toVisible(JSON.stringify(value.slice(0, maxTextLength)), 4 * maxTextLength);
  const left = value.length > maxTextLength ? ` … ${value.length.toLocaleString("en")} characters` : "";
  return text + left;
}
