import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../../base/clock.ts";

const lookEvery = 100;
/** git keeps a pack in a few files; more mean that something else happens. */
const mostFiles = 2_000;

/** Calls `exceeded` once when the files below a directory take more bytes than allowed. Git itself has no such limit for fetching. */
export function watchSize(directory: string, maxBytes: number, clock: Clock, exceeded: () => void): () => void {
  let isStopped = false;
  let cancel = clock.after(lookEvery, look);
  function look(): void {
    void sizeOf(directory).then((size) => {
      if (isStopped) return;
      if (size > maxBytes) exceeded();
      else cancel = clock.after(lookEvery, look);
    });
  }
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Infinite for too many files. */
async function sizeOf(directory: string): Promise<number> {
  // Files disappear meanwhile.
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  if (names.length > mostFiles) return Infinity;
  let size = 0;
  for (const name of names) {
    size += await stat(path.join(directory, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    );
  }
  return size;
}
