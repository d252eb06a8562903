import { setFlagsFromString } from "node:v8";

/**
 * Stops V8 from growing the young generation. Reading thousands of skills would grow it to 16 MiB per semi-space, which costs 40 MB
 * and is not faster. Unknown flags are ignored.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * The same for a long-lived process and its threads; their old generations are also collected after growing by a fifth instead of
 * doubling, because each list of thousands of skills leaves megabytes of garbage.
 */
export function keepHeapsFlat(): void {
  keepHeapSmall();
  setFlagsFromString("--heap-growing-percent=20");
}
