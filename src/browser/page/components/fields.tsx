import type { ComponentChildren, JSX } from "preact";
import { foreignText } from "./foreign-text.tsx";

type Field = readonly [name: string, value: ComponentChildren];

/** Names and values, side by side if there is space. Fields without a value are left out. */
export function fieldList(fields: readonly Field[]): JSX.Element | null {
  const given = fields.filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return null;
  return (
    <dl class="fields">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{foreignText(name, 80)}</dt>
          <dd dir="auto">{typeof value === "string" ? foreignText(value, 2_000) : value}</dd>
        </div>
      ))}
    </dl>
  );
}
