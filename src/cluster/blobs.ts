import { type Clock, systemClock } from "../base/clock.ts";
import { isSkillsError } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";
import {
  type BlobOptions,
  type BlobRange,
  type BlobStore,
  type BlobUpkeep,
  type ListedBlob,
  type ReleaseBlob,
  type StoredBlob,
  type Swept,
  blobNotFound,
  checkKind,
  isBlobId,
  newBlobId,
  storeClosed,
  withBlobDefaults,
} from "../runtime/blobs.ts";
import { toBlobFailure } from "./blobs/blob-failure.ts";
import { type BlobContext, BlobHolder } from "./blobs/blob-holder.ts";
import { countExpired, deleteBlob, deleteExpired, insertBlob, selectBlob, selectBlobs } from "./blobs/blob-rows.ts";
import type { ObjectStore } from "./blobs/object-store.ts";
import { readContent } from "./blobs/read-content.ts";
import { removeLeftovers, removeUploads } from "./blobs/remove-uploads.ts";
import { withContent } from "./blobs/stage-content.ts";
import type { Database } from "./database.ts";

export { openObjectStore } from "./blobs/object-store.ts";

const sweepForRoomEveryMs = 10_000;

export interface ClusterBlobOptions extends BlobOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** The store for contents of more than `above` bytes. */
  readonly objects?: ObjectStore | undefined;
  /** The time in milliseconds since 1970. Default: that of the database. */
  readonly now?: () => number;
}

/**
 * Opens a blob store in the database of a cluster. A blob is visible once all its bytes are durable. Limits hold for all members together,
 * if all have the same limits.
 */
export function openClusterBlobs(database: Database, options: ClusterBlobOptions = {}): BlobStore & BlobUpkeep {
  return new ClusterBlobs(database, options);
}

class ClusterBlobs implements BlobStore, BlobUpkeep {
  readonly #context: BlobContext;
  readonly #settings: Required<BlobOptions>;
  readonly #now: () => number | undefined;
  readonly #clock: Clock;
  #isClosed = false;
  #sweptForRoomAt = -Infinity;
  #removing: Promise<void> = Promise.resolve();
  /** Uploads that wait for `#removing`. While this process lives, no other process may remove those of failed puts. */
  readonly #abandoned = new Set<number>();

  constructor(database: Database, options: ClusterBlobOptions) {
    const { clock = systemClock, log = silentLog, objects } = options;
    this.#context = { database, holder: new BlobHolder(database, { clock, log }), objects };
    this.#settings = withBlobDefaults(options);
    this.#now = options.now ?? (() => undefined);
    this.#clock = clock;
  }

  put(
    owner: string,
    kind: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<StoredBlob> {
    return this.#run("stored", async () => {
      checkKind(kind);
      const onAbandoned = (upload: number): void => this.#removeLater(upload);
      const options = { limitBytes: this.#settings.maxBlobBytes, signal, onAbandoned };
      return await withContent(this.#context, content, options, async ({ size, sha256, digests, write }) => {
        const blob = { id: newBlobId(), size, kind, sha256, digests, owner, now: this.#now() };
        const replaced = await this.#withRoom(() => {
          this.#assertOpen();
          return this.#context.database.transaction(
            async (transaction) => await insertBlob(transaction, await write(transaction), blob, this.#settings),
          );
        });
        if (replaced !== undefined) this.#removeLater(replaced);
        return { id: blob.id, size, kind, sha256: sha256.toString("hex") };
      });
    });
  }

  stat(owner: string, id: string): Promise<StoredBlob> {
    return this.#run("read", () => this.#find(owner, id));
  }

  async *read(owner: string, id: string, range: BlobRange = {}): AsyncGenerator<Uint8Array> {
    this.#assertOpen();
    if (!isBlobId(id)) throw blobNotFound(id);
    try {
      yield* readContent(this.#context, owner, id, range);
    } catch (error) {
      throw toBlobFailure("read", error);
    }
  }

  hold(owner: string, id: string): Promise<ReleaseBlob> {
    return this.#run("stored", async () => {
      await this.#find(owner, id);
      const release = await this.#context.holder.hold({ blob: id });
      if (release === undefined) throw blobNotFound(id);
      return release;
    });
  }

  remove(owner: string, id: string): Promise<void> {
    return this.#run("removed", async () => {
      if (!isBlobId(id)) throw blobNotFound(id);
      const { removed, unused } = await deleteBlob(this.#context.database, owner, id);
      if (removed === 0) throw blobNotFound(id);
      // The blob is removed already; the sweep removes uploads that remain.
      await removeUploads(this.#context, unused).catch(() => undefined);
    });
  }

  async *list(): AsyncGenerator<ListedBlob> {
    this.#assertOpen();
    try {
      yield* selectBlobs(this.#context.database);
    } catch (error) {
      throw toBlobFailure("read", error);
    }
  }

  sweep(): Promise<Swept> {
    return this.#run("removed", () => this.#sweep());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#removing;
    await this.#context.holder.close();
    this.#context.objects?.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  /** Throws the errors of `BlobStore`, and errors of a source unchanged. */
  async #run<Result>(doing: Parameters<typeof toBlobFailure>[0], work: () => Promise<Result>): Promise<Result> {
    this.#assertOpen();
    try {
      return await work();
    } catch (error) {
      throw toBlobFailure(doing, error);
    }
  }

  async #find(owner: string, id: string): Promise<StoredBlob> {
    const blob = isBlobId(id) ? await selectBlob(this.#context.database, owner, id) : undefined;
    if (blob === undefined) throw blobNotFound(id);
    return blob;
  }

  /** Sweeps and tries again once at a limit, because expired blobs count until they are swept. */
  async #withRoom<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isSkillsError(error, "QUOTA_EXCEEDED") || this.#clock.now() - this.#sweptForRoomAt < sweepForRoomEveryMs)
        throw error;
      this.#sweptForRoomAt = this.#clock.now();
      await this.#sweep();
      return await work();
    }
  }

  /** Removes an upload after the answer: the duration of a put must not reveal that another owner has the same bytes. */
  #removeLater(upload: number): void {
    this.#abandoned.add(upload);
    this.#removing = this.#removing.then(() => this.#removeAbandoned()).catch(() => undefined);
  }

  async #removeAbandoned(): Promise<void> {
    const uploads = [...this.#abandoned];
    await removeUploads(this.#context, uploads);
    for (const upload of uploads) this.#abandoned.delete(upload);
  }

  async #sweep(): Promise<Swept> {
    const { database } = this.#context;
    let [removed, freedBytes, isOver] = [0, 0, false];
    while (!isOver) {
      const gone = await deleteExpired(database, this.#now());
      removed += gone.removed;
      freedBytes += gone.bytes;
      await removeUploads(this.#context, gone.unused);
      isOver = gone.removed === 0;
    }
    const held = await countExpired(database, this.#now());
    await this.#removeAbandoned();
    await removeLeftovers(this.#context);
    return { removed, freedBytes, held };
  }
}
