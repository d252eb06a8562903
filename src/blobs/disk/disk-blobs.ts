import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { systemClock } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import { blobNotFound, blobTooLarge, checkKind, newBlobId, storeClosed, withinBlob } from "../blob-arguments.ts";
import { withBlobDefaults } from "../blob-options.ts";
import type { BlobOptions } from "../blob-options.ts";
import type { BlobRange, BlobStore, BlobUpkeep, ListedBlob, ReleaseBlob, StoredBlob, Swept } from "../blob-store.ts";
import { commitBlob, forgetBlob } from "./disk-commit.ts";
import { onDisk } from "./disk-fault.ts";
import { syncNames } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { openDiskPlaces } from "./disk-place.ts";
import type { DiskPlace, DiskPlaces } from "./disk-place.ts";
import { everyRecord, readRecord, toKey } from "./disk-records.ts";
import type { BlobRecord } from "./disk-records.ts";
import { sweepDisk } from "./disk-sweep.ts";
import { ownerKey, takeUsage, writeUsage } from "./disk-usage.ts";
import { stageContent, writeDurably } from "./stage-content.ts";
import { verifiedObjects } from "./verified-object.ts";

/** Without `now`, because the age of a blob is measured by the clock of the disk, which all processes on all machines share. */
export interface DiskBlobOptions extends Omit<BlobOptions, "now"> {
  /** Drives the heartbeat that tells processes in other containers that this one is running. */
  readonly clock?: Clock;
  /** The time of the disk's clock, in milliseconds since 1970. Default: read from the disk. */
  readonly diskNow?: () => number;
  /** Waits while another process has the lock; unlike a timer of `clock`, it must keep this process alive. */
  readonly pause?: (ms: number) => Promise<void>;
}

const sweepForRoomEveryMs = 10_000;

/**
 * A blob store in a directory that any number of processes may share, on a file system with hard links. Nothing is cached. Changes
 * are durable once reported, also after a power failure. An unusable directory does not prevent opening: each call reports the
 * fault, and calls work again once it is fixed. Reading needs no write permission.
 */
export function diskBlobs(directory: string, options: DiskBlobOptions = {}): BlobStore & BlobUpkeep {
  return new DiskBlobs(directory, options);
}

interface FoundBlob {
  readonly layout: DiskLayout;
  readonly key: string;
  readonly record: BlobRecord;
}

class DiskBlobs implements BlobStore, BlobUpkeep {
  readonly #settings: ReturnType<typeof withBlobDefaults>;
  readonly #clock: Clock;
  readonly #places: DiskPlaces;
  readonly #objects = verifiedObjects();
  #isClosed = false;
  #sweptForRoomAt = -Infinity;

  constructor(directory: string, options: DiskBlobOptions) {
    this.#settings = withBlobDefaults(options);
    const { clock = systemClock, diskNow, pause = (ms: number) => pauseFor(ms) } = options;
    this.#clock = clock;
    const newToken = (): string => randomHex(this.#settings.random);
    this.#places = openDiskPlaces(directory, { clock, diskNow, pause, newToken });
  }

  put(
    owner: string,
    kind: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<StoredBlob> {
    return onDisk("stored", async () => {
      this.#assertOpen();
      checkKind(kind);
      const limitBytes = this.#settings.maxBlobBytes;
      if (content instanceof Uint8Array && content.length > limitBytes) throw blobTooLarge(limitBytes);
      const place = this.#writable();
      const { layout, registry } = place;
      const id = newBlobId(this.#settings.random);
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
        await this.#commitWithRoom(place, { record, key, staged });
        await syncNames(layout, key, record.sha256);
        return { id, size: record.size, kind, sha256: record.sha256 };
      } finally {
        await Promise.all([".content", ".record"].map((end) => rm(`${staged}${end}`, { force: true })));
      }
    });
  }

  stat(owner: string, id: string): Promise<StoredBlob> {
    return onDisk("read", () => {
      const { size, kind, sha256 } = this.#find(owner, id).record;
      return { id, size, kind, sha256 };
    });
  }

  async *read(owner: string, id: string, range: BlobRange = {}): AsyncGenerator<Uint8Array> {
    const { start, end, object } = await onDisk("read", async () => {
      const { layout, record } = this.#find(owner, id);
      const within = withinBlob(range, record.size);
      const opened = await this.#objects.open(layout, record);
      if (opened !== undefined) return { ...within, object: opened };
      this.#find(owner, id); // If it was just removed, it is missing, not damaged.
      throw new SkillsError("INTERNAL", "The content of the blob is missing on disk.");
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
  }

  hold(owner: string, id: string): Promise<ReleaseBlob> {
    return onDisk("stored", async () => {
      this.#find(owner, id);
      const place = this.#writable();
      const release = await this.#locked(place, () => place.leases.take(this.#find(owner, id).key));
      return () => onDisk("stored", release);
    });
  }

  remove(owner: string, id: string): Promise<void> {
    return onDisk("removed", async () => {
      this.#find(owner, id);
      const place = this.#writable();
      const { key, record } = await this.#locked(place, async () => {
        const found = this.#find(owner, id);
        const usage = await takeUsage(place.layout);
        forgetBlob(place.layout, found.key, found.record.sha256);
        usage.remove(ownerKey(owner), found.record.size);
        writeUsage(place.layout, usage);
        return found;
      });
      await syncNames(place.layout, key, record.sha256);
    });
  }

  async *list(): AsyncGenerator<ListedBlob> {
    this.#assertOpen();
    const layout = await onDisk("read", () => this.#places.readable());
    if (layout === undefined) return;
    const records = everyRecord(layout);
    for (;;) {
      const next = await onDisk("read", () => records.next());
      if (next.done === true) return;
      const { record } = next.value;
      if (record !== undefined) yield { ...record, expiresAt: record.createdAt + this.#settings.ttlMs };
    }
  }

  sweep(): Promise<Swept> {
    return onDisk("removed", async () => {
      this.#assertOpen();
      if (this.#places.readable() === undefined) return { removed: 0, freedBytes: 0, held: 0 };
      return await this.#sweep(this.#writable());
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#places.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  #writable(): DiskPlace {
    this.#assertOpen();
    return this.#places.writable();
  }

  async #locked<T>({ lock }: DiskPlace, work: () => Promise<T> | T): Promise<T> {
    this.#assertOpen();
    return lock.run(work);
  }

  #find(owner: string, id: string): FoundBlob {
    this.#assertOpen();
    const key = toKey(id);
    const layout = key === undefined ? undefined : this.#places.readable();
    const record = key === undefined || layout === undefined ? undefined : readRecord(layout, key);
    if (key === undefined || layout === undefined || record?.owner !== owner) throw blobNotFound(id);
    return { layout, key, record };
  }

  #sweep(place: DiskPlace): Promise<Swept> {
    const expiredBefore = place.registry.diskNow() - this.#settings.ttlMs;
    return sweepDisk({
      ...place,
      exclusive: (work) => this.#locked(place, work),
      isExpired: (createdAt) => createdAt <= expiredBefore,
    });
  }

  async #commitWithRoom(place: DiskPlace, put: Parameters<typeof commitBlob>[1]): Promise<void> {
    const commit = (): Promise<SkillsError | undefined> =>
      this.#locked(place, () => commitBlob(place, put, this.#settings));
    let refusal = await commit();
    if (refusal !== undefined && this.#clock.now() - this.#sweptForRoomAt >= sweepForRoomEveryMs) {
      this.#sweptForRoomAt = this.#clock.now();
      await this.#sweep(place);
      refusal = await commit();
    }
    if (refusal !== undefined) throw refusal;
  }
}

function randomHex(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  return Buffer.from(bytes).toString("hex");
}
