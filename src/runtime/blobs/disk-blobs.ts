import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { type Clock, systemClock } from "../../base/clock.ts";
import { SkillsError } from "../../base/errors.ts";
import type {
  BlobOptions,
  BlobRange,
  BlobStore,
  BlobUpkeep,
  ListedBlob,
  ReleaseBlob,
  StoredBlob,
  Swept,
} from "../blobs.ts";
import {
  type DiskLayout,
  DirectoryFault,
  diskFailure,
  findDiskLayout,
  isOwnDirectory,
  isWhole,
  makeDiskLayout,
  onDisk,
  syncNames,
} from "./disk/disk-layout.ts";
import { SharedDirectory, type SharedDirectoryOptions } from "./disk/shared-directory.ts";
import {
  type BlobRecord,
  changeUsage,
  commitBlob,
  everyRecord,
  readRecord,
  removeBlob,
  stageContent,
  toKey,
  writeDurably,
} from "./disk/disk-records.ts";
import { sweepDisk } from "./disk/disk-sweep.ts";
import { openContent } from "./disk/read-content.ts";
import {
  blobNotFound,
  blobTooLarge,
  checkKind,
  newBlobId,
  storeClosed,
  withBlobDefaults,
  withinBlob,
} from "./blob-rules.ts";

export type DiskBlobOptions = BlobOptions & Partial<Omit<SharedDirectoryOptions, "token">>;

const sweepForRoomEveryMs = 10_000;

/**
 * A blob store in a directory that any number of processes may share, on a file system with hard links. Nothing is cached. Changes
 * are durable once reported, also after a power failure. An unusable directory does not prevent opening: each call reports the
 * fault, and calls work again once it is fixed. Reading needs no write permission.
 */
export function diskBlobs(directory: string, options: DiskBlobOptions = {}): BlobStore & BlobUpkeep {
  return new DiskBlobs(directory, options);
}

class DiskBlobs implements BlobStore, BlobUpkeep {
  readonly #directory: string;
  readonly #settings: Required<BlobOptions>;
  readonly #clock: Clock;
  readonly #sharedOptions: Omit<SharedDirectoryOptions, "token">;
  readonly #verified = new Set<string>();
  #found: DiskLayout | undefined;
  #shared: SharedDirectory | undefined;
  #isClosed = false;
  #sweptForRoomAt = -Infinity;

  constructor(directory: string, options: DiskBlobOptions) {
    const { clock = systemClock, diskNow, pause = (ms: number) => pauseFor(ms) } = options;
    this.#directory = directory;
    this.#settings = withBlobDefaults(options);
    this.#clock = clock;
    this.#sharedOptions = { clock, diskNow, pause };
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
      const shared = this.#writable();
      const id = newBlobId();
      const key = id.slice("blob:".length);
      const staged = path.join(shared.layout.staging, `${shared.token}.${key}`);
      try {
        const record = await stageContent(`${staged}.content`, content, {
          limitBytes,
          signal,
          async record({ size, sha256 }): Promise<BlobRecord> {
            const made = { id, size, kind, sha256, owner, createdAt: shared.diskNow() };
            await writeDurably(`${staged}.record`, `${JSON.stringify(made)}\n`);
            return made;
          },
        });
        await this.#commitWithRoom(shared, { record, key, staged });
        await syncNames(shared.layout, key, record.sha256);
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
    try {
      const { layout, record } = this.#find(owner, id);
      const chunks = await openContent(layout, record, withinBlob(range, record.size), this.#verified);
      if (chunks === undefined) {
        this.#find(owner, id); // If it was just removed, it is missing, not damaged.
        throw new SkillsError("INTERNAL", "The content of the blob is missing on disk.");
      }
      yield* chunks;
    } catch (error) {
      throw diskFailure("read", error);
    }
  }

  hold(owner: string, id: string): Promise<ReleaseBlob> {
    return onDisk("stored", async () => {
      this.#find(owner, id);
      const shared = this.#writable();
      const release = await shared.exclusive(() => shared.hold(this.#find(owner, id).key));
      return () => onDisk("stored", release);
    });
  }

  remove(owner: string, id: string): Promise<void> {
    return onDisk("removed", async () => {
      this.#find(owner, id);
      const shared = this.#writable();
      const { key, record } = await shared.exclusive(() => {
        const found = this.#find(owner, id);
        return changeUsage(shared.layout, (usage) => {
          removeBlob(shared.layout, found.key, found.record, usage);
          return found;
        });
      });
      await syncNames(shared.layout, key, record.sha256);
    });
  }

  async *list(): AsyncGenerator<ListedBlob> {
    this.#assertOpen();
    try {
      const layout = this.#readable();
      if (layout === undefined) return;
      for await (const { record } of everyRecord(layout)) {
        if (record !== undefined) yield { ...record, expiresAt: record.createdAt + this.#settings.ttlMs };
      }
    } catch (error) {
      throw diskFailure("read", error);
    }
  }

  sweep(): Promise<Swept> {
    return onDisk("removed", async () => {
      this.#assertOpen();
      if (this.#readable() === undefined) return { removed: 0, freedBytes: 0, held: 0 };
      return await this.#sweep(this.#writable());
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#shared?.close(storeClosed());
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  /** The store, for reading; undefined if there is none. Checked on each call, because a disk may be missing for some time. */
  #readable(): DiskLayout | undefined {
    if (this.#found === undefined || !isOwnDirectory(this.#found.records))
      this.#found = findDiskLayout(this.#directory);
    return this.#found;
  }

  /** The store, for changes: created if it is missing. Checked on each call, too. */
  #writable(): SharedDirectory {
    this.#assertOpen();
    if (this.#shared !== undefined && isWhole(this.#shared.layout)) return this.#shared;
    this.#shared?.leave(new DirectoryFault("their directory does not exist"));
    this.#shared = undefined;
    const token = randomBytes(16).toString("hex");
    return (this.#shared = new SharedDirectory(makeDiskLayout(this.#directory), { ...this.#sharedOptions, token }));
  }

  #find(owner: string, id: string) {
    this.#assertOpen();
    const key = toKey(id);
    const layout = key === undefined ? undefined : this.#readable();
    const record = key === undefined || layout === undefined ? undefined : readRecord(layout, key);
    if (key === undefined || layout === undefined || record?.owner !== owner) throw blobNotFound(id);
    return { layout, key, record };
  }

  #sweep(shared: SharedDirectory): Promise<Swept> {
    const expiredBefore = shared.diskNow() - this.#settings.ttlMs;
    return sweepDisk(shared, (createdAt) => createdAt <= expiredBefore);
  }

  async #commitWithRoom(shared: SharedDirectory, put: Parameters<typeof commitBlob>[1]): Promise<void> {
    const commit = (): Promise<SkillsError | undefined> =>
      shared.exclusive(() => commitBlob(shared.layout, put, this.#settings));
    let refusal = await commit();
    if (refusal !== undefined && this.#clock.now() - this.#sweptForRoomAt >= sweepForRoomEveryMs) {
      this.#sweptForRoomAt = this.#clock.now();
      await this.#sweep(shared);
      refusal = await commit();
    }
    if (refusal !== undefined) throw refusal;
  }
}
