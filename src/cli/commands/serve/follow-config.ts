import type { Clock } from "../../../base/clock.ts";
import { fileStamp } from "../../../base/paths/read-guarded-file.ts";

const checkEvery = 1_000;

/** Calls back when a file changed, and at SIGHUP, except in a terminal, whose end it may be. Returns a function that ends this. Links are followed. */
export function followFile(file: string, clock: Clock, changed: () => void): () => void {
  let before = fileStamp(file);
  let stop = clock.after(checkEvery, check);

  function check(): void {
    const now = fileStamp(file);
    const isOther = now !== before;
    before = now;
    stop = clock.after(checkEvery, check);
    if (isOther) changed();
  }
  function hangUp(): void {
    before = fileStamp(file);
    changed();
  }
  if (!process.stdin.isTTY) process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGHUP", hangUp);
    stop();
  };
}
