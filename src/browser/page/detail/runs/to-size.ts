/** 950 B, 1.2 KiB, 10 MiB. */
export function toSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const [divisor, unit] = bytes < 1_024 * 1_024 ? [1_024, "KiB"] : [1_024 * 1_024, "MiB"];
  const scaled = bytes / divisor;
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)} ${unit}`;
}
