/** A number with its noun: `1 skill`, `2 skills`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
