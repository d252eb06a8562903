import { randomUUID } from "node:crypto";
import type { Database, Queries } from "../database.ts";
import { chunkBytes } from "./cut-content.ts";
import { type ObjectStore, objectBytes, toObjectName } from "./object-store.ts";

const writesAtOnce = 2;

/** Only what makes a blob of it has to wait until everything before is durable. */
const later = "with later as (select set_config('synchronous_commit', 'off', true))";

/** Writes an upload of a few chunks within a transaction. */
export async function writeUpload(transaction: Queries, chunks: readonly Buffer[]): Promise<number> {
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

/**
 * An upload whose bytes are written as they come, in any number of transactions: what is left of it when its writer crashes is swept. In the
 * object store, every 8 MiB are one object, so that none has to be put together there.
 */
export class StagedUpload {
  readonly id: number;
  readonly #database: Database;
  readonly #objects: ObjectStore | undefined;
  readonly #object: string;
  readonly #writes = new Set<Promise<void>>();
  #failure: { readonly reason: unknown } | undefined;
  #chunks = 0;
  #part: Buffer[] = [];

  static async open(database: Database, holder: string, objects: ObjectStore | undefined): Promise<StagedUpload> {
    const object = randomUUID();
    const [row] = await database.query<{ id: number }>(
      `${later} insert into acp_skills.blob_uploads (holder, object) select $1, $2 from later returning id::float8 as id`,
      [holder, objects === undefined ? null : object],
    );
    return new StagedUpload(database, objects, { id: row?.id ?? 0, object });
  }

  private constructor(
    database: Database,
    objects: ObjectStore | undefined,
    { id, object }: { readonly id: number; readonly object: string },
  ) {
    this.id = id;
    this.#database = database;
    this.#objects = objects;
    this.#object = object;
  }

  /** Waits while enough is being written. Rejects with why an earlier write failed. */
  async add(chunk: Buffer): Promise<void> {
    const number = this.#chunks++;
    if (this.#objects === undefined) {
      await this.#begin(() =>
        this.#database.query(`${later} insert into acp_skills.blob_chunks select $1, $2, $3 from later`, [
          this.id,
          number,
          chunk,
        ]),
      );
      return;
    }
    this.#part.push(chunk);
    if (this.#part.length === objectBytes / chunkBytes) await this.#addPart(this.#objects, number);
  }

  /** Resolves when everything is written. */
  async end(): Promise<void> {
    if (this.#objects !== undefined && this.#part.length > 0) await this.#addPart(this.#objects, this.#chunks - 1);
    await this.idle();
    if (this.#failure !== undefined) throw this.#failure.reason;
  }

  /** Resolves when nothing is being written, also after a failure. */
  async idle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #addPart(objects: ObjectStore, lastChunk: number): Promise<void> {
    const bytes = Buffer.concat(this.#part);
    this.#part = [];
    const number = Math.floor((lastChunk * chunkBytes) / objectBytes);
    const size = number * objectBytes + bytes.length;
    await this.#begin(async () => {
      // First, so that a sweep knows from the row which objects there may be.
      await this.#database.query(
        `${later} update acp_skills.blob_uploads set size = greatest(size, $2) from later where id = $1`,
        [this.id, size],
      );
      await objects.put(toObjectName(this.#object, number), bytes);
    });
  }

  async #begin(write: () => Promise<unknown>): Promise<void> {
    while (this.#writes.size >= writesAtOnce) await Promise.race(this.#writes);
    if (this.#failure !== undefined) throw this.#failure.reason;
    const writing = write()
      .then(
        () => undefined,
        (reason: unknown) => void (this.#failure ??= { reason }),
      )
      .finally(() => this.#writes.delete(writing));
    this.#writes.add(writing);
  }
}
