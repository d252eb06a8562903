import { usageError } from "../command.ts";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Milliseconds of `10s`, `500ms`, `1.5m`, or a plain number of milliseconds. Throws INVALID_OPTIONS for anything else. */
export function parseDuration(option: string, text: string): number {
  const [, number = "", unit = "ms"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? [];
  const milliseconds = Math.round(Number(number) * (units[unit] ?? 1));
  if (number === "" || milliseconds < 1)
    throw usageError(
      `${option} needs a duration such as 10s, 500ms or 2m (a plain number is milliseconds), not ${text}`,
    );
  return milliseconds;
}
