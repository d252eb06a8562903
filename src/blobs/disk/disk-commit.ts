import { closeSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import type { SkillsError } from "../../errors.ts";
import { quotaRefusal } from "../blob-quota.ts";
import type { BlobQuota } from "../blob-quota.ts";
import { createFlags, fileMode, makeDirectory, objectPath, recordPath, referencePath, shardOf } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import type { DiskPlace } from "./disk-place.ts";
import type { BlobRecord } from "./disk-records.ts";
import { ownerKey, takeUsage, writeUsage } from "./disk-usage.ts";

/** Turns staged content into a blob. Requires the lock; returns an error where the quota is exceeded. */
export async function commitBlob(
  { layout }: DiskPlace,
  { record, key, staged }: { readonly record: BlobRecord; readonly key: string; readonly staged: string },
  quota: BlobQuota,
): Promise<SkillsError | undefined> {
  const usage = await takeUsage(layout);
  const owner = ownerKey(record.owner);
  const refusal = quotaRefusal(usage, owner, record.size, quota);
  if (refusal === undefined) {
    makeDirectory(shardOf(layout.objects, record.sha256));
    makeDirectory(shardOf(layout.records, key));
    // Replaces existing identical content, too, which repairs it if it is damaged.
    renameSync(`${staged}.content`, objectPath(layout, record.sha256));
    closeSync(openSync(referencePath(layout, record.sha256, key), createFlags, fileMode));
    renameSync(`${staged}.record`, recordPath(layout, key));
    usage.add(owner, record.size);
  }
  writeUsage(layout, usage);
  return refusal;
}

/** Removes a blob, and its content unless another blob refers to it. Requires the lock. If interrupted, the sweep does the rest. */
export function forgetBlob(layout: DiskLayout, key: string, sha256: string): void {
  rmSync(recordPath(layout, key), { force: true });
  rmSync(referencePath(layout, sha256, key), { force: true });
  const content = objectPath(layout, sha256);
  const prefix = `${path.basename(content)}.`;
  if (!readdirSync(path.dirname(content)).some((name) => name.startsWith(prefix))) rmSync(content, { force: true });
}
