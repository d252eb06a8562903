/** How often values of each size were observed. Observing one allocates nothing. */
export interface Histogram {
  readonly observe: (value: number) => void;
  /** By upper bound, each including those below it; the last is for all. */
  readonly buckets: () => readonly { readonly upTo: number; readonly count: number }[];
  readonly sum: () => number;
}

/** `bounds` ascend. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value) {
      let index = 0;
      while (index < bounds.length && value > (bounds[index] ?? Infinity)) index += 1;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
    buckets() {
      let count = 0;
      return [...bounds, Infinity].map((upTo, index) => ({ upTo, count: (count += counts[index] ?? 0) }));
    },
    sum: () => sum,
  };
}
