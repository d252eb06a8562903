const units = ["bytes", "KiB", "MiB", "GiB"];

/** `1 byte`, `312 bytes`, `4.2 KiB`. */
export function sizeInWords(bytes: number): string {
  if (bytes === 1) return "1 byte";
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** unit;
  return `${unit === 0 || amount >= 100 ? String(Math.round(amount)) : amount.toFixed(1)} ${units[unit] ?? ""}`;
}
