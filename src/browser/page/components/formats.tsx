import type { JSX } from "preact";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** A moment, in the user's locale; for today, only the time. */
export function shownTime(at: number): JSX.Element {
  if (Number.isNaN(at)) return <span>at an unknown time</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return <time dateTime={date.toISOString()}>{(isToday ? clock : day).format(date)}</time>;
}

const compact = new Intl.NumberFormat("en", { notation: "compact" });

/** `950`, `1.2K`, `34K`, `1.5M`. */
export function toShortNumber(value: number): string {
  return compact.format(value);
}

const units = ["bytes", "KiB", "MiB", "GiB"];

/** `1 byte`, `312 bytes`, `4.2 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return "1 byte";
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** unit;
  return `${unit === 0 || amount >= 100 ? String(Math.round(amount)) : amount.toFixed(1)} ${units[unit] ?? ""}`;
}

/** `83 %`; a dash if the share is undefined. */
export function formatShare(share: number | undefined): string {
  return share === undefined ? "–" : `${Math.round(share * 100)} %`;
}
