/** 950, 1.2k, 34k, 1.5M. */
export function toShortNumber(value: number): string {
  if (value < 1_000) return String(value);
  const [divisor, unit] = value < 999_500 ? [1_000, "k"] : [1_000_000, "M"];
  const scaled = value / divisor;
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}
