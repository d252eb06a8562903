import { closeSync, openSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { SkillsError } from "../errors.ts";
import { newBlobId } from "./blob-id.ts";
import { withBlobDefaults } from "./blob-options.ts";
import type { BlobOptions } from "./blob-options.ts";
import { blobNotFound, blobTooLarge, checkKind, quotaExceeded, storeClosed, withinBlob } from "./blob-refusal.ts";
import type { BlobStore, BlobUpkeep, Swept } from "./blob-store.ts";
import { openDiskLeases } from "./disk-leases.ts";
import {
  createFlags,
  fileMode,
  makeDirectory,
  objectPath,
  openDiskLayout,
  recordPath,
  referencePath,
  shardOf,
  syncNames,
} from "./disk-layout.ts";
import { everyRecord, readRecord, toKey } from "./disk-records.ts";
import type { BlobRecord } from "./disk-records.ts";
import { sweepDisk } from "./disk-sweep.ts";
import { takeUsage, writeUsage } from "./disk-usage.ts";
import { forgetBlob } from "./forget-blob.ts";
import { orInternal } from "./or-internal.ts";
import { openProcessRegistry } from "./process-registry.ts";
import { stageContent, writeDurably } from "./stage-content.ts";
import { openTicketLock } from "./ticket-lock.ts";
import { verifiedObjects } from "./verified-object.ts";

export interface DiskBlobOptions extends BlobOptions {
  /** Beats the heart that processes elsewhere (another container) know us by. */
  readonly clock?: Clock;
  /** Waits while another process has the lock; unlike a clock's timer it must keep this process alive. */
  readonly pause?: (ms: number) => Promise<void>;
}

const sweepForRoomEveryMs = 10_000;

/**
 * Blobs in a directory that any number of processes may share, on a file system with hard links. Nothing about them is believed from
 * memory. What is said to be kept, or removed, stays so after a power cut. Throws INVALID_OPTIONS for a directory that cannot serve.
 */
export function diskBlobs(directory: string, options: DiskBlobOptions = {}): BlobStore & BlobUpkeep {
  const settings = withBlobDefaults(options);
  const layout = openDiskLayout(directory);
  const token = randomHex(settings.random);
  const registry = openProcessRegistry(layout.processes, token, {
    clock: options.clock ?? systemClock,
    now: settings.now,
  });
  const lock = openTicketLock(layout.lock, registry, options.pause ?? ((ms) => pauseFor(ms)));
  const leases = openDiskLeases(layout.leases, registry);
  const objects = verifiedObjects(layout);
  let closed = false;
  let sweptForRoomAt = -Infinity;

  const whileOpen = (): void => {
    if (closed) throw storeClosed();
  };
  const exclusive = async <T>(work: () => Promise<T> | T): Promise<T> => {
    whileOpen();
    return lock.run(work);
  };
  const find = (owner: string, id: string): { readonly key: string; readonly record: BlobRecord } => {
    whileOpen();
    const key = toKey(id);
    const record = key === undefined ? undefined : readRecord(layout, key);
    if (key === undefined || record?.owner !== owner) throw blobNotFound(id);
    return { key, record };
  };
  const isExpired = (createdAt: number): boolean => createdAt + settings.ttlMs <= settings.now();
  const sweep = (): Promise<Swept> => sweepDisk({ layout, leases, registry, exclusive, isExpired });

  /** False when there is no room. */
  const commit = (record: BlobRecord, key: string, staged: string): Promise<boolean> =>
    exclusive(async () => {
      const { bytes, blobs } = await takeUsage(layout);
      const fits = bytes + record.size <= settings.quotaBytes && blobs < settings.maxBlobs;
      if (fits) {
        makeDirectory(shardOf(layout.objects, record.sha256));
        makeDirectory(shardOf(layout.records, key));
        // Also over an equal content that is there already: should that one be damaged, this heals it.
        renameSync(`${staged}.content`, objectPath(layout, record.sha256));
        closeSync(openSync(referencePath(layout, record.sha256, key), createFlags, fileMode));
        renameSync(`${staged}.record`, recordPath(layout, key));
      }
      writeUsage(layout, fits ? { bytes: bytes + record.size, blobs: blobs + 1 } : { bytes, blobs });
      return fits;
    });
  const commitWithRoom = async (record: BlobRecord, key: string, staged: string): Promise<void> => {
    if (await commit(record, key, staged)) return;
    if (settings.now() - sweptForRoomAt >= sweepForRoomEveryMs) {
      sweptForRoomAt = settings.now();
      await sweep();
      if (await commit(record, key, staged)) return;
    }
    throw quotaExceeded(settings);
  };

  return {
    put: (owner, kind, content, { signal } = {}) =>
      orInternal(async () => {
        whileOpen();
        checkKind(kind);
        const limitBytes = settings.maxBlobBytes;
        if (content instanceof Uint8Array && content.length > limitBytes) throw blobTooLarge(limitBytes);
        const id = newBlobId(settings.random);
        const key = id.slice("blob:".length);
        const staged = path.join(layout.staging, `${token}.${key}`);
        try {
          const record = await stageContent(`${staged}.content`, content, {
            limitBytes,
            signal,
            async record({ size, sha256 }): Promise<BlobRecord> {
              const made = { id, size, kind, sha256, owner, createdAt: settings.now() };
              await writeDurably(`${staged}.record`, `${JSON.stringify(made)}\n`);
              return made;
            },
          });
          await commitWithRoom(record, key, staged);
          await syncNames(layout, key, record.sha256);
          return { id, size: record.size, kind, sha256: record.sha256 };
        } finally {
          await Promise.all([".content", ".record"].map((end) => rm(`${staged}${end}`, { force: true })));
        }
      }),

    stat: (owner, id) =>
      orInternal(() => {
        const { size, kind, sha256 } = find(owner, id).record;
        return { id, size, kind, sha256 };
      }),

    async *read(owner, id, range = {}) {
      const { start, end, object } = await orInternal(async () => {
        const { record } = find(owner, id);
        const within = withinBlob(range, record.size);
        const opened = await objects.open(record);
        if (opened !== undefined) return { ...within, object: opened };
        find(owner, id); // Removed just now: then it is absent, not damaged.
        throw new SkillsError("INTERNAL", "The blob's bytes are missing on disk; it cannot be read.");
      });
      try {
        const chunks = object.chunks(start, end);
        for (;;) {
          const next = await orInternal(() => chunks.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await object.close();
      }
    },

    hold: (owner, id) =>
      orInternal(async () => {
        whileOpen();
        find(owner, id);
        const release = await exclusive(() => leases.take(find(owner, id).key));
        return () => orInternal(release);
      }),

    remove: (owner, id) =>
      orInternal(async () => {
        find(owner, id);
        const { key, record } = await exclusive(async () => {
          const found = find(owner, id);
          const usage = await takeUsage(layout);
          forgetBlob(layout, found.key, found.record.sha256);
          writeUsage(layout, { bytes: usage.bytes - found.record.size, blobs: usage.blobs - 1 });
          return found;
        });
        await syncNames(layout, key, record.sha256);
      }),

    async *list() {
      whileOpen();
      const records = everyRecord(layout);
      for (;;) {
        const next = await orInternal(() => records.next());
        if (next.done === true) return;
        const { record } = next.value;
        if (record !== undefined) yield { ...record, expiresAt: record.createdAt + settings.ttlMs };
      }
    },

    sweep: () =>
      orInternal(() => {
        whileOpen();
        return sweep();
      }),

    close: () =>
      orInternal(async () => {
        if (closed) return;
        closed = true;
        try {
          await lock.run(() => {
            leases.releaseAll();
          });
        } finally {
          registry.close();
        }
      }),
  };
}

function randomHex(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  return Buffer.from(bytes).toString("hex");
}
