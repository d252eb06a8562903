import { setFlagsFromString } from "node:v8";

/**
 * Keeps the young generation of this process as small as it starts. Left alone it grows to 16 MiB a half while thousands of
 * skills are read, which makes the process larger by 40 MB and no faster. A flag that an engine does not know is ignored.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * The same for a process that stays, and all its threads; and their old generations are collected when they have grown by a
 * fifth, not when they have doubled: each list of thousands of skills leaves megabytes behind.
 */
export function keepHeapsFlat(): void {
  keepHeapSmall();
  setFlagsFromString("--heap-growing-percent=20");
}
