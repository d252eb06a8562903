import { createHash, hash, randomUUID } from "node:crypto";
import { inChunks } from "../../base/text/byte-chunks.ts";
import { blobTooLarge } from "../../runtime/blobs.ts";
import type { Queries } from "../database.ts";
import { BlobSourceFailure } from "./blob-failure.ts";
import type { BlobContext } from "./blob-holder.ts";
import { chunkBytes, objectBytes, toObjectName } from "./object-store.ts";

const writesAtOnce = 2;

/** Lets a statement commit without waiting for the disk: the transaction that creates the blob waits until all before is durable. */
const later = "with later as (select set_config('synchronous_commit', 'off', true))";

type Content = Uint8Array | AsyncIterable<Uint8Array>;

interface GatherOptions {
  readonly limitBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Called with an upload that a failure has made useless. */
  readonly onAbandoned: (upload: number) => void;
}

/** The content of a blob that does not exist yet. */
interface GatheredContent {
  readonly size: number;
  readonly sha256: Buffer;
  /** The SHA-256 of each chunk, one after the other. */
  readonly digests: Buffer;
  /** Returns the number of the upload. Writes a small content in the transaction; a large one is written already. */
  readonly write: (transaction: Queries) => Promise<number>;
}

/**
 * Reads a content and calls `use`. A small content stays in memory; a large one is written while it arrives. Rejects with
 * `BlobSourceFailure`, whose cause is BLOB_TOO_LARGE or the error of the source, or with the error of `use`.
 */
export async function withContent<Result>(
  context: BlobContext,
  content: Content,
  { limitBytes, signal, onAbandoned }: GatherOptions,
  use: (gathered: GatheredContent) => Promise<Result>,
): Promise<Result> {
  const partBytes = content instanceof Uint8Array ? Math.min(content.length, chunkBytes) : chunkBytes;
  const atMost = context.objects?.above ?? chunkBytes;
  const whole = createHash("sha256");
  const [digests, chunks]: [Buffer[], Buffer[]] = [[], []];
  let size = 0;
  let upload: StagedUpload | undefined;
  try {
    for await (const chunk of inChunks(fromSource(content, limitBytes, signal), partBytes)) {
      size += chunk.length;
      whole.update(chunk);
      digests.push(hash("sha256", chunk, "buffer"));
      chunks.push(chunk);
      if (size <= atMost) continue;
      upload ??= await beginUpload(context);
      for (const next of chunks.splice(0)) await upload.add(next);
    }
    await upload?.end();
    const write = async (transaction: Queries): Promise<number> =>
      upload?.id ?? (await writeUpload(transaction, chunks));
    return await use({ size, sha256: whole.digest(), digests: Buffer.concat(digests), write });
  } catch (error) {
    await upload?.idle();
    if (upload !== undefined) onAbandoned(upload.id);
    throw error;
  }
}

/** Wraps errors of the source in `BlobSourceFailure`, but not errors of the reader. */
async function* fromSource(
  content: Content,
  limitBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    signal?.throwIfAborted();
    for await (const bytes of content instanceof Uint8Array ? [content] : content) {
      signal?.throwIfAborted();
      if ((size += bytes.length) > limitBytes) throw blobTooLarge(limitBytes);
      yield bytes;
    }
    signal?.throwIfAborted();
  } catch (cause) {
    throw new BlobSourceFailure("The source of a blob failed.", { cause });
  }
}

/** Writes an upload of a few chunks within a transaction. */
async function writeUpload(transaction: Queries, chunks: readonly Buffer[]): Promise<number> {
  const [row] = await transaction.query<{ id: number }>(
    `with upload as (insert into acp_skills.blob_uploads default values returning id),
       chunk as (insert into acp_skills.blob_chunks select id, 0, $1::bytea from upload where $1::bytea is not null)
     select id::float8 as id from upload`,
    [chunks[0] ?? null],
  );
  if (row === undefined) throw new Error("An upload has no number.");
  for (const [number, bytes] of chunks.entries())
    if (number > 0)
      await transaction.query("insert into acp_skills.blob_chunks values ($1, $2, $3)", [row.id, number, bytes]);
  return row.id;
}

interface StagedUpload {
  readonly id: number;
  /** Adds a chunk; waits while two writes are in progress. Rejects with the error of an earlier write. */
  add(chunk: Buffer): Promise<void>;
  /** Writes the remaining chunks. Resolves when everything is written. */
  end(): Promise<void>;
  /** Resolves when nothing is being written, also after a failure. */
  idle(): Promise<unknown>;
}

/**
 * Begins an upload whose bytes are written while they arrive, in any number of transactions. If the writer crashes, the sweep removes
 * them. In the object store, every 8 MiB are one object, so that none has to be assembled there.
 */
async function beginUpload({ database, holder, objects }: BlobContext): Promise<StagedUpload> {
  await holder.join();
  const object = randomUUID();
  const [row] = await database.query<{ id: number }>(
    `${later} insert into acp_skills.blob_uploads (holder, object) select $1, $2 from later returning id::float8 as id`,
    [holder.id, objects === undefined ? null : object],
  );
  const id = row?.id ?? 0;
  const chunksAtOnce = objects === undefined ? 1 : objectBytes / chunkBytes;
  const writes = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;
  let [number, waiting]: [number, Buffer[]] = [0, []];

  async function write(part: number, chunks: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(chunks);
    if (objects === undefined) {
      const insert = `${later} insert into acp_skills.blob_chunks select $1, $2, $3 from later`;
      await database.query(insert, [id, part, bytes]);
      return;
    }
    // The size is written first: a sweep derives from the row which objects there may be.
    await database.query(
      `${later} update acp_skills.blob_uploads set size = greatest(size, $2) from later where id = $1`,
      [id, part * objectBytes + bytes.length],
    );
    await objects.put(toObjectName(object, part), bytes);
  }

  async function flush(): Promise<void> {
    while (writes.size >= writesAtOnce) await Promise.race(writes);
    if (failure !== undefined) throw failure.reason;
    const writing = write(number++, waiting)
      .catch((reason: unknown) => void (failure ??= { reason }))
      .finally(() => writes.delete(writing));
    writes.add(writing);
    waiting = [];
  }

  return {
    id,
    async add(chunk) {
      waiting.push(chunk);
      if (waiting.length === chunksAtOnce) await flush();
    },
    async end() {
      if (waiting.length > 0) await flush();
      await Promise.all(writes);
      if (failure !== undefined) throw failure.reason;
    },
    idle: () => Promise.all(writes),
  };
}
