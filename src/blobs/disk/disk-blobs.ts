import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { systemClock } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import { newBlobId } from "../blob-id.ts";
import { withBlobDefaults } from "../blob-options.ts";
import type { BlobOptions } from "../blob-options.ts";
import { blobNotFound, blobTooLarge, checkKind, storeClosed, withinBlob } from "../blob-refusal.ts";
import type { BlobStore, BlobUpkeep, Swept } from "../blob-store.ts";
import { commitBlob } from "./disk-commit.ts";
import { onDisk } from "./disk-fault.ts";
import { syncNames } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { openDiskPlaces } from "./disk-place.ts";
import type { DiskPlace } from "./disk-place.ts";
import { everyRecord, readRecord, toKey } from "./disk-records.ts";
import type { BlobRecord } from "./disk-records.ts";
import { sweepDisk } from "./disk-sweep.ts";
import { ownerKey, takeUsage, writeUsage } from "./disk-usage.ts";
import { forgetBlob } from "./forget-blob.ts";
import { stageContent, writeDurably } from "./stage-content.ts";
import { verifiedObjects } from "./verified-object.ts";

/** Without `now`: how old a blob is, the disk's own clock says, which all processes of all machines have in common. */
export interface DiskBlobOptions extends Omit<BlobOptions, "now"> {
  /** Beats the heart that processes elsewhere (another container) know us by. */
  readonly clock?: Clock;
  /** What the disk's clock says, in milliseconds since 1970. Default: it is asked. */
  readonly diskNow?: () => number;
  /** Waits while another process has the lock; unlike a clock's timer it must keep this process alive. */
  readonly pause?: (ms: number) => Promise<void>;
}

const sweepForRoomEveryMs = 10_000;

/**
 * Blobs in a directory that any number of processes may share, on a file system with hard links. Nothing about them is believed from
 * memory. What is said to be kept, or removed, stays so after a power cut. A directory that cannot serve is no reason not to open: each
 * verb says what is wrong with it then, and works again when that is mended. Looking needs no right to write.
 */
export function diskBlobs(directory: string, options: DiskBlobOptions = {}): BlobStore & BlobUpkeep {
  const settings = withBlobDefaults(options);
  const { clock = systemClock, diskNow, pause = (ms: number) => pauseFor(ms) } = options;
  const places = openDiskPlaces(directory, { clock, diskNow, pause, newToken: () => randomHex(settings.random) });
  const objects = verifiedObjects();
  let closed = false;
  let sweptForRoomAt = -Infinity;

  const whileOpen = (): void => {
    if (closed) throw storeClosed();
  };
  const writable = (): DiskPlace => {
    whileOpen();
    return places.writable();
  };
  const exclusive = async <T>({ lock }: DiskPlace, work: () => Promise<T> | T): Promise<T> => {
    whileOpen();
    return lock.run(work);
  };
  const find = (
    owner: string,
    id: string,
  ): { readonly layout: DiskLayout; readonly key: string; readonly record: BlobRecord } => {
    whileOpen();
    const key = toKey(id);
    const layout = key === undefined ? undefined : places.readable();
    const record = key === undefined || layout === undefined ? undefined : readRecord(layout, key);
    if (key === undefined || layout === undefined || record?.owner !== owner) throw blobNotFound(id);
    return { layout, key, record };
  };
  const sweep = async (place: DiskPlace): Promise<Swept> => {
    const now = place.registry.diskNow();
    return sweepDisk({
      ...place,
      exclusive: (work) => exclusive(place, work),
      isExpired: (createdAt) => createdAt + settings.ttlMs <= now,
    });
  };
  const commitWithRoom = async (place: DiskPlace, put: Parameters<typeof commitBlob>[1]): Promise<void> => {
    const commit = (): Promise<SkillsError | undefined> => exclusive(place, () => commitBlob(place, put, settings));
    let refusal = await commit();
    if (refusal !== undefined && clock.now() - sweptForRoomAt >= sweepForRoomEveryMs) {
      sweptForRoomAt = clock.now();
      await sweep(place);
      refusal = await commit();
    }
    if (refusal !== undefined) throw refusal;
  };

  return {
    put: (owner, kind, content, { signal } = {}) =>
      onDisk("kept", async () => {
        whileOpen();
        checkKind(kind);
        const limitBytes = settings.maxBlobBytes;
        if (content instanceof Uint8Array && content.length > limitBytes) throw blobTooLarge(limitBytes);
        const place = writable();
        const { layout, registry } = place;
        const id = newBlobId(settings.random);
        const key = id.slice("blob:".length);
        const staged = path.join(layout.staging, `${registry.token}.${key}`);
        try {
          const record = await stageContent(`${staged}.content`, content, {
            limitBytes,
            signal,
            async record({ size, sha256 }): Promise<BlobRecord> {
              const made = { id, size, kind, sha256, owner, createdAt: registry.diskNow() };
              await writeDurably(`${staged}.record`, `${JSON.stringify(made)}\n`);
              return made;
            },
          });
          await commitWithRoom(place, { record, key, staged });
          await syncNames(layout, key, record.sha256);
          return { id, size: record.size, kind, sha256: record.sha256 };
        } finally {
          await Promise.all([".content", ".record"].map((end) => rm(`${staged}${end}`, { force: true })));
        }
      }),

    stat: (owner, id) =>
      onDisk("read", () => {
        const { size, kind, sha256 } = find(owner, id).record;
        return { id, size, kind, sha256 };
      }),

    async *read(owner, id, range = {}) {
      const { start, end, object } = await onDisk("read", async () => {
        const { layout, record } = find(owner, id);
        const within = withinBlob(range, record.size);
        const opened = await objects.open(layout, record);
        if (opened !== undefined) return { ...within, object: opened };
        find(owner, id); // Removed just now: then it is absent, not damaged.
        throw new SkillsError("INTERNAL", "The blob's bytes are missing on disk; it cannot be read.");
      });
      try {
        const chunks = object.chunks(start, end);
        for (;;) {
          const next = await onDisk("read", () => chunks.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await object.close();
      }
    },

    hold: (owner, id) =>
      onDisk("kept", async () => {
        find(owner, id);
        const place = writable();
        const release = await exclusive(place, () => place.leases.take(find(owner, id).key));
        return () => onDisk("kept", release);
      }),

    remove: (owner, id) =>
      onDisk("removed", async () => {
        find(owner, id);
        const place = writable();
        const { key, record } = await exclusive(place, async () => {
          const found = find(owner, id);
          const usage = await takeUsage(place.layout);
          forgetBlob(place.layout, found.key, found.record.sha256);
          usage.remove(ownerKey(owner), found.record.size);
          writeUsage(place.layout, usage);
          return found;
        });
        await syncNames(place.layout, key, record.sha256);
      }),

    async *list() {
      whileOpen();
      const layout = await onDisk("read", () => places.readable());
      if (layout === undefined) return;
      const records = everyRecord(layout);
      for (;;) {
        const next = await onDisk("read", () => records.next());
        if (next.done === true) return;
        const { record } = next.value;
        if (record !== undefined) yield { ...record, expiresAt: record.createdAt + settings.ttlMs };
      }
    },

    sweep: () =>
      onDisk("removed", async () => {
        whileOpen();
        return places.readable() === undefined ? { removed: 0, freedBytes: 0, held: 0 } : await sweep(writable());
      }),

    async close() {
      if (closed) return;
      closed = true;
      await places.close();
    },
  };
}

function randomHex(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  return Buffer.from(bytes).toString("hex");
}
