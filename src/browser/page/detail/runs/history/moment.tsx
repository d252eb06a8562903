import type { JSX } from "preact";
import { Time } from "../../../answers/time.tsx";

/** A moment in a line of the history. */
export function Moment({ at }: { readonly at: number }): JSX.Element {
  return (
    <span class="moment muted">
      <Time at={at} />
    </span>
  );
}
