import type { JSX } from "preact";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** A moment, in the person's own way of writing it: of today, only the time. */
export function Time({ at }: { readonly at: number }): JSX.Element {
  if (Number.isNaN(at)) return <span>at an unknown time</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return <time dateTime={date.toISOString()}>{(isToday ? clock : day).format(date)}</time>;
}
