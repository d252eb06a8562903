/** The numbers of the rows that are rendered: those in view, some beyond, and the active one wherever it is. */
export function visibleRows(total: number, first: number, inView: number, active: number): readonly number[] {
  const from = Math.max(0, Math.min(first, total) - beyond);
  const to = Math.min(total, first + inView + beyond);
  const numbers = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
  if (active >= 0 && active < from) return [active, ...numbers];
  return active >= to && active < total ? [...numbers, active] : numbers;
}

/** Rows rendered above and below the view, so that scrolling does not show gaps. */
const beyond = 6;

interface Identified {
  readonly id: string;
}

/** Where the row at `first` is after a change; if it is gone, the nearest one below it that is still there, then above it. */
export function anchorAfter(before: readonly Identified[], after: readonly Identified[], first: number): number {
  const places = new Map(after.map(({ id }, place) => [id, place]));
  for (const { id } of before.slice(first)) {
    const place = places.get(id);
    if (place !== undefined) return place;
  }
  for (const { id } of before.slice(0, first).reverse()) {
    const place = places.get(id);
    if (place !== undefined) return place;
  }
  return 0;
}

/** Where a key moves from the row at `active` (-1: none); undefined if it is not a key of lists. */
export function moveBy(key: string, active: number, total: number, screenful: number): number | undefined {
  const last = total - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(last, active + 1);
    case "ArrowUp":
      return active < 0 ? last : Math.max(0, active - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
      return Math.min(last, Math.max(0, active) + screenful);
    case "PageUp":
      return Math.max(0, active - screenful);
    default:
      return undefined;
  }
}
