import { type Clock, systemClock } from "../base/clock.ts";
import { SkillsError, isSkillsError } from "../base/errors.ts";
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
import { onCluster, toBlobFailure } from "./blobs/blob-failure.ts";
import { BlobHolder } from "./blobs/blob-holder.ts";
import {
  type NewBlob,
  countExpired,
  deleteBlobs,
  insertBlob,
  lockBlob,
  lockExpired,
  selectBlob,
  selectBlobs,
} from "./blobs/blob-rows.ts";
import { CutContent, chunkBytes } from "./blobs/cut-content.ts";
import type { ObjectStore } from "./blobs/object-store.ts";
import { readContent } from "./blobs/read-content.ts";
import { removeLeftovers, removeOrphans, removeUploads } from "./blobs/remove-uploads.ts";
import { StagedUpload, writeUpload } from "./blobs/stage-content.ts";
import type { Database, Queries } from "./database.ts";

export { openObjectStore } from "./blobs/object-store.ts";

const sweepForRoomEveryMs = 10_000;

export interface ClusterBlobOptions extends BlobOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** For contents of more than `above` bytes. */
  readonly objects?: ObjectStore | undefined;
  /** The time of the database, in milliseconds since 1970. Default: its own. */
  readonly now?: () => number;
}

/**
 * A blob store in the database of a cluster. What a put wrote is seen when all of it is durable. Limits hold for all members together, as
 * far as each is given the same ones.
 */
export function openClusterBlobs(database: Database, options: ClusterBlobOptions = {}): BlobStore & BlobUpkeep {
  return new ClusterBlobs(database, options);
}

class ClusterBlobs implements BlobStore, BlobUpkeep {
  readonly #database: Database;
  readonly #settings: Required<BlobOptions>;
  readonly #now: () => number | undefined;
  readonly #clock: Clock;
  readonly #holder: BlobHolder;
  readonly #context: Parameters<typeof readContent>[0];
  #isClosed = false;
  #sweptForRoomAt = -Infinity;
  #removing: Promise<void> = Promise.resolve();
  /** Uploads that wait for that; those of failed puts no other process may remove while this one lives. */
  readonly #abandoned = new Set<number>();

  constructor(database: Database, options: ClusterBlobOptions) {
    const { clock = systemClock, log = silentLog, objects } = options;
    this.#database = database;
    this.#settings = withBlobDefaults(options);
    this.#now = options.now ?? (() => undefined);
    this.#clock = clock;
    this.#holder = new BlobHolder(database, { clock, log });
    this.#context = { database, holder: this.#holder, objects };
  }

  put(
    owner: string,
    kind: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<StoredBlob> {
    return onCluster("stored", async () => {
      this.#assertOpen();
      checkKind(kind);
      const cut = new CutContent(content, { limitBytes: this.#settings.maxBlobBytes, signal });
      const { staged, chunks } = await this.#stage(cut);
      try {
        const { size, sha256, digests } = cut;
        const blob = { id: newBlobId(), size, kind, sha256, digests, owner, now: this.#now() };
        const write = async (queries: Queries): Promise<number> => staged?.id ?? (await writeUpload(queries, chunks));
        await this.#withRoom(() => this.#commit(blob, write));
        return { id: blob.id, size, kind, sha256: sha256.toString("hex") };
      } catch (error) {
        if (staged !== undefined) this.#removeLater(staged.id);
        throw error;
      }
    });
  }

  stat(owner: string, id: string): Promise<StoredBlob> {
    return onCluster("read", () => this.#find(owner, id));
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
    return onCluster("stored", async () => {
      await this.#find(owner, id);
      const release = await this.#holder.hold({ blob: id });
      if (release === undefined) throw blobNotFound(id);
      return release;
    });
  }

  remove(owner: string, id: string): Promise<void> {
    return onCluster("removed", async () => {
      this.#assertOpen();
      if (!isBlobId(id)) throw blobNotFound(id);
      const { removed, unused } = await this.#database.transaction(
        async (transaction) => await deleteBlobs(transaction, await lockBlob(transaction, owner, id), true),
      );
      if (removed === 0) throw blobNotFound(id);
      // The blob is removed; the sweep does what fails here.
      await removeUploads(this.#context, unused).catch(() => undefined);
    });
  }

  async *list(): AsyncGenerator<ListedBlob> {
    this.#assertOpen();
    try {
      yield* selectBlobs(this.#database);
    } catch (error) {
      throw toBlobFailure("read", error);
    }
  }

  sweep(): Promise<Swept> {
    return onCluster("removed", async () => {
      this.#assertOpen();
      return await this.#sweep();
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#removing;
    await this.#holder.close();
    this.#context.objects?.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  async #find(owner: string, id: string): Promise<StoredBlob> {
    this.#assertOpen();
    const blob = isBlobId(id) ? await selectBlob(this.#database, owner, id) : undefined;
    if (blob === undefined) throw blobNotFound(id);
    return blob;
  }

  /** Reads the content: what is small stays in memory, what is not is written as it comes. */
  async #stage(cut: CutContent): Promise<{ readonly staged?: StagedUpload | undefined; readonly chunks: Buffer[] }> {
    const { objects } = this.#context;
    const atMost = objects?.above ?? chunkBytes;
    const chunks: Buffer[] = [];
    let staged: StagedUpload | undefined;
    try {
      for await (const chunk of cut.chunks()) {
        if (staged !== undefined) await staged.add(chunk);
        else chunks.push(chunk);
        if (staged !== undefined || cut.size <= atMost) continue;
        await this.#holder.join();
        staged = await StagedUpload.open(this.#database, this.#holder.id, objects);
        for (const before of chunks.splice(0)) await staged.add(before);
      }
      await staged?.end();
      return { staged, chunks };
    } catch (error) {
      await staged?.idle();
      if (staged !== undefined) this.#removeLater(staged.id);
      throw error;
    }
  }

  async #commit(blob: NewBlob, write: (transaction: Queries) => Promise<number>): Promise<void> {
    this.#assertOpen();
    const replaced = await this.#database.transaction(
      async (transaction) => await insertBlob(transaction, await write(transaction), blob, this.#settings),
    );
    if (replaced === false)
      throw new SkillsError("RUNTIME_BUSY", "The blob was not stored: the database was not reached for too long.");
    if (replaced !== undefined) this.#removeLater(replaced);
  }

  /** Sweeps once where a limit is reached, because expired blobs count until then. */
  async #withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isSkillsError(error, "QUOTA_EXCEEDED") || this.#clock.now() - this.#sweptForRoomAt < sweepForRoomEveryMs)
        throw error;
      this.#sweptForRoomAt = this.#clock.now();
      await this.#sweep();
      await work();
    }
  }

  /** Not before the answer: how long a put takes must not depend on whether somebody has the same bytes. */
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
    const swept = { removed: 0, freedBytes: 0, held: 0 };
    for (let isOver = false; !isOver;) {
      const gone = await this.#database.transaction(
        async (transaction) => await deleteBlobs(transaction, await lockExpired(transaction, this.#now()), false),
      );
      swept.removed += gone.removed;
      swept.freedBytes += gone.bytes;
      await removeUploads(this.#context, gone.unused);
      isOver = gone.removed === 0;
    }
    swept.held = await countExpired(this.#database, this.#now());
    await this.#removeAbandoned();
    await removeLeftovers(this.#context);
    const { objects } = this.#context;
    if (objects !== undefined) await removeOrphans(this.#database, objects);
    return swept;
  }
}
