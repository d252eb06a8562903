import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileMode, hasCode, readFlags } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { everyRecord } from "./disk-records.ts";

/** What all blobs of a store come to, equal contents counted each time: so a refusal never tells what others keep. */
export interface BlobUsage {
  readonly bytes: number;
  readonly blobs: number;
}

/**
 * Reads the usage and takes the file away, for the holder of the lock. `writeUsage` puts it back when everything is done; whoever finds
 * none knows that somebody stopped half-way, and counts. A number torn by a crash is not taken for one: the line has no end.
 */
export async function takeUsage(layout: DiskLayout): Promise<BlobUsage> {
  const written = readUsage(layout);
  rmSync(layout.usage, { force: true });
  return written ?? countUsage(layout);
}

export function writeUsage(layout: DiskLayout, { bytes, blobs }: BlobUsage): void {
  writeFileSync(layout.usage, `${bytes} ${blobs}\n`, { flag: "wx", mode: fileMode });
}

export async function countUsage(layout: DiskLayout): Promise<BlobUsage> {
  let [bytes, blobs] = [0, 0];
  for await (const { record } of everyRecord(layout)) {
    if (record === undefined) continue;
    bytes += record.size;
    blobs += 1;
  }
  return { bytes, blobs };
}

function readUsage(layout: DiskLayout): BlobUsage | undefined {
  try {
    const descriptor = openSync(layout.usage, readFlags);
    try {
      const [, bytes, blobs] = /^(\d+) (\d+)\n$/.exec(readFileSync(descriptor, "utf8")) ?? [];
      return bytes === undefined ? undefined : { bytes: Number(bytes), blobs: Number(blobs) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return undefined;
    throw error;
  }
}
