import { statSync } from "node:fs";
import type { Clock } from "../../../base/clock.ts";

const lookEvery = 1_000;

/** Calls back when a file changed, and at SIGHUP, except in a terminal, whose end it may be. Returns a function that ends this. Links are followed. */
export function followFile(file: string, clock: Clock, changed: () => void): () => void {
  let before = stampOf(file);
  let stop = clock.after(lookEvery, look);

  function look(): void {
    const now = stampOf(file);
    const isOther = now !== before;
    before = now;
    stop = clock.after(lookEvery, look);
    if (isOther) changed();
  }
  function hangUp(): void {
    before = stampOf(file);
    changed();
  }
  if (!process.stdin.isTTY) process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGHUP", hangUp);
    stop();
  };
}

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    return String(error);
  }
}
