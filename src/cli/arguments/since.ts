import { usageError } from "../command.ts";

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const dateForm = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** The time that a duration after `now`, or a date, stands for. Throws INVALID_OPTIONS also for a time in the past. */
export function parseUntil(option: string, text: string, now: number): number {
  const then = /^\d+[smhdw]$/.test(text) ? 2 * now - parseSince(option, text, now) : parseSince(option, text, now);
  if (then > now) return then;
  throw usageError(`${option} ${text} is in the past`);
}

/**
 * The time, in milliseconds since 1970, that a duration such as `2h` before `now` or a date such as `2026-11-22` stands for; a date
 * without an offset is in UTC, as times are printed. Throws INVALID_OPTIONS for anything else, such as 30 February.
 */
export function parseSince(option: string, text: string, now: number): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (number !== undefined) return now - Number(number) * (unitMs[unit] ?? 0);
  const [, day = "", time = "", offset] = dateForm.exec(text) ?? [];
  const at = Date.parse(time !== "" && offset === undefined ? `${text}Z` : text);
  // Date.parse takes 30 February for 2 March.
  const isReal = day !== "" && !Number.isNaN(at) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (isReal) return at;
  throw usageError(
    `${option} needs a duration such as 90m, 2h or 7d, or a date such as 2026-11-22 or 2026-11-22T10:00Z, not ${text}`,
  );
}
