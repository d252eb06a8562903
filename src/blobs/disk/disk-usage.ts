import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { countUsage } from "../blob-quota.ts";
import type { BlobUsage, CountedUsage } from "../blob-quota.ts";
import { isFull } from "./disk-fault.ts";
import { fileMode, hasCode, readFlags } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { everyRecord } from "./disk-records.ts";

/** Owners as the usage names them: texts of a length that does not depend on what an owner is called. */
export function ownerKey(owner: string): string {
  return createHash("sha256").update(owner).digest("hex").slice(0, 32);
}

/**
 * Reads the usage and takes the file away, for the holder of the lock. `writeUsage` puts it back when everything is done; whoever finds
 * none, or one that does not add up, counts: somebody stopped half-way.
 */
export async function takeUsage(layout: DiskLayout): Promise<CountedUsage> {
  const written = readUsage(layout);
  rmSync(layout.usage, { force: true });
  return written ?? countDisk(layout);
}

/** What all blobs come to, then a line for each owner. On a full disk there is none afterwards, and the next one counts. */
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

/** Undefined unless the owners add up to the whole; a text torn by a crash does not. */
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
