import type { JSX } from "preact";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** A moment as people on this machine write it. */
export function Moment({ at }: { readonly at: number }): JSX.Element {
  const date = new Date(at);
  return (
    <time class="moment muted" dateTime={date.toISOString()}>
      {day.format(date)} {time.format(date)}
    </time>
  );
}
