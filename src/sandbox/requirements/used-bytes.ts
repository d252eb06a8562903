import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

/** The total size of the files below a directory; stops as soon as it exceeds `limit`. Files that disappear meanwhile count as zero. */
export async function usedBytes(directory: string, limit: number): Promise<number> {
  let used = 0;
  const waiting = [directory];
  for (let at = waiting.pop(); at !== undefined && used <= limit; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const place = path.join(at, entry.name);
      if (entry.isDirectory()) waiting.push(place);
      else
        used += await lstat(place).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return used;
}
