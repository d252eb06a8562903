import { closeSync, openSync, readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { everyShard, hasCode, isOwnDirectory, readFlags, recordPath, shardOf } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import type { StoredBlob } from "../blob-store.ts";

/** The content of a record file. Written once; a blob exists if and only if its record exists. */
export interface BlobRecord extends StoredBlob {
  readonly owner: string;
  readonly createdAt: number;
}

const ownId = /^blob:([0-9a-f]{32})$/;
const key = /^[0-9a-f]{32}$/;

/** The hexadecimal part of an id of this adapter. Undefined for any other text, which is never used in a path. */
export function toKey(id: string): string | undefined {
  return ownId.exec(id)?.[1];
}

/** Undefined if the record is missing or malformed. */
export function readRecord(layout: DiskLayout, name: string): BlobRecord | undefined {
  try {
    if (!isOwnDirectory(shardOf(layout.records, name))) return undefined;
    const descriptor = openSync(recordPath(layout, name), readFlags);
    try {
      return parseRecord(name, readFileSync(descriptor, "utf8"));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    // A symlink or a directory, not a record.
    if (["ENOENT", "ELOOP", "EISDIR"].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

function parseRecord(name: string, text: string): BlobRecord | undefined {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return undefined; // Damaged: the sweep removes it.
  }
  const record = found as Partial<BlobRecord> | null;
  const understood =
    typeof record === "object" &&
    record?.id === `blob:${name}` &&
    typeof record.owner === "string" &&
    typeof record.kind === "string" &&
    typeof record.sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(record.sha256) &&
    Number.isSafeInteger(record.size) &&
    Number(record.size) >= 0 &&
    typeof record.createdAt === "number";
  return understood ? (record as BlobRecord) : undefined;
}

export interface FoundRecord {
  readonly key: string;
  readonly record: BlobRecord | undefined;
}

/** Iterates over all records and yields to the event loop between directories. */
export async function* everyRecord(layout: DiskLayout): AsyncGenerator<FoundRecord> {
  for (const { names } of everyShard(layout.records)) {
    yield* names.filter((name) => key.test(name)).map((name) => ({ key: name, record: readRecord(layout, name) }));
    await setImmediate();
  }
}
