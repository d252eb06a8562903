import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Makes the entries of a directory durable. Windows neither supports nor needs this. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same synchronously. */
export function syncDirectoryNow(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
