import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { countUsage } from "../blob-quota.ts";
import type { BlobUsage, CountedUsage } from "../blob-quota.ts";
import { isFull } from "./disk-fault.ts";
import { fileMode, hasCode, readFlags } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { everyRecord } from "./disk-records.ts";

/** The key of an owner in the usage file, of fixed length. */
export function ownerKey(owner: string): string {
  return createHash("sha256").update(owner).digest("hex").slice(0, 32);
}

/**
 * Reads the usage and removes its file. Requires the lock. `writeUsage` writes it again after the change. If the file is missing or
 * inconsistent, a change was interrupted, and the usage is recounted.
 */
export async function takeUsage(layout: DiskLayout): Promise<CountedUsage> {
  const written = readUsage(layout);
  rmSync(layout.usage, { force: true });
  return written ?? countDisk(layout);
}

/** Writes the total usage, then a line for each owner. On a full disk the file is left out, and the next change recounts. */
export function writeUsage(layout: DiskLayout, usage: CountedUsage): void {
  const lines = [toText(usage.total), ...Array.from(usage.owners(), ([key, each]) => `${key} ${toText(each)}`)];
  try {
    writeFileSync(layout.usage, `${lines.join("\n")}\n`, { flag: "wx", mode: fileMode });
  } catch (error) {
    if (!isFull(error)) throw error;
    rmSync(layout.usage, { force: true });
  }
}

export async function countDisk(layout: DiskLayout): Promise<CountedUsage> {
  const usage = countUsage();
  for await (const { record } of everyRecord(layout)) {
    if (record !== undefined) usage.add(ownerKey(record.owner), record.size);
  }
  return usage;
}

function toText({ bytes, blobs }: BlobUsage): string {
  return `${bytes} ${blobs}`;
}

function readUsage(layout: DiskLayout): CountedUsage | undefined {
  try {
    const descriptor = openSync(layout.usage, readFlags);
    try {
      return parseUsage(readFileSync(descriptor, "utf8"));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return undefined;
    throw error;
  }
}

/** Undefined unless the owners add up to the total, which they do not in a file truncated by a crash. */
function parseUsage(text: string): CountedUsage | undefined {
  const [total = "", ...lines] = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const owners = lines.map((line): [string, BlobUsage] => {
    const [, key = "", bytes, blobs] = /^([0-9a-f]{32}) (\d+) (\d+)$/.exec(line) ?? [];
    return [key, { bytes: Number(bytes), blobs: Number(blobs) }];
  });
  const usage = countUsage(owners);
  return total === toText(usage.total) ? usage : undefined;
}
