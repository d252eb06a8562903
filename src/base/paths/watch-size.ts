import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../clock.ts";

export interface SizeLimit {
  readonly maxBytes: number;
  readonly maxFiles?: number;
}

const lookEveryMs = 100;

/**
 * Calls `exceeded` once when what is below a directory takes more than allowed: programs that fetch and unpack have no such limit
 * themselves. The returned function ends it.
 */
export function watchSize(directory: string, limit: SizeLimit, clock: Clock, exceeded: () => void): () => void {
  let isStopped = false;
  let cancel = clock.after(lookEveryMs, look);
  function look(): void {
    void exceeds(directory, limit).then((isOver) => {
      if (isStopped) return;
      if (isOver) exceeded();
      else cancel = clock.after(lookEveryMs, look);
    });
  }
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Whether what is below a directory takes more than allowed. Files that disappear meanwhile count as empty. */
export async function exceeds(directory: string, { maxBytes, maxFiles = Infinity }: SizeLimit): Promise<boolean> {
  let [bytes, files] = [0, 0];
  const waiting = [directory];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const place = path.join(at, entry.name);
      files += 1;
      if (entry.isDirectory()) waiting.push(place);
      else
        bytes += await lstat(place).then(
          ({ size }) => size,
          () => 0,
        );
      if (bytes > maxBytes || files > maxFiles) return true;
    }
  }
  return false;
}
