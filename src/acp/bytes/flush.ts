import type { Writable } from "node:stream";

/** Waits until all written data has been flushed, or the output is closed. */
export async function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
