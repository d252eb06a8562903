import { closeSync, openSync, renameSync } from "node:fs";
import { quotaRefusal } from "../blob-quota.ts";
import type { BlobQuota } from "../blob-quota.ts";
import { createFlags, fileMode, makeDirectory, objectPath, recordPath, referencePath, shardOf } from "./disk-layout.ts";
import type { DiskPlace } from "./disk-place.ts";
import type { BlobRecord } from "./disk-records.ts";
import { ownerKey, takeUsage, writeUsage } from "./disk-usage.ts";
import type { SkillsError } from "../../errors.ts";

/** Makes what is staged a blob, under the lock; returns why there is no room for it, where there is none. */
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
    // Also over an equal content that is there already: should that one be damaged, this heals it.
    renameSync(`${staged}.content`, objectPath(layout, record.sha256));
    closeSync(openSync(referencePath(layout, record.sha256, key), createFlags, fileMode));
    renameSync(`${staged}.record`, recordPath(layout, key));
    usage.add(owner, record.size);
  }
  writeUsage(layout, usage);
  return refusal;
}
