import { randomUUID } from "node:crypto";
import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { DatabaseError } from "../database/database-error.ts";
import type { Database } from "../database.ts";
import type { ObjectStore } from "./object-store.ts";

/** The stores of blobs, and the holder of this process. */
export interface BlobContext {
  readonly database: Database;
  readonly holder: BlobHolder;
  /** The store for contents of more than `above` bytes. */
  readonly objects: ObjectStore | undefined;
}

/** Renewals follow the clock of this process, the lease that of the database. The lease is longer than an outage that a run survives. */
const renewEveryMs = 20_000;
const leaseSeconds = 120;

/** A blob, which does not expire while held, or an upload whose bytes are being read. */
type Held = { readonly blob: string } | { readonly upload: number };

/** The lease of this process, and all blobs and uploads that it holds under that lease. */
export class BlobHolder {
  readonly id = randomUUID();
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #held = new Map<number, Held>();
  #lastNumber = 0;
  #joined: Promise<void> | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #stopTimer: () => void = () => undefined;
  #isClosed = false;

  constructor(database: Database, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  /** Begins the lease, without which nothing can be held or written. */
  join(): Promise<void> {
    return (this.#joined ??= this.#renew().then(
      () => this.#renewLater(),
      (error: unknown) => {
        this.#joined = undefined;
        throw error;
      },
    ));
  }

  /** Holds a blob or upload until the returned function is called, which never rejects. Undefined if there is no such blob or upload. */
  async hold(held: Held): Promise<(() => Promise<void>) | undefined> {
    await this.join();
    const number = ++this.#lastNumber;
    this.#held.set(number, held);
    try {
      if (await this.#insert(number, held)) return () => this.#release(number);
    } catch (error) {
      this.#held.delete(number);
      throw error;
    }
    this.#held.delete(number);
    return undefined;
  }

  /** Ends the lease and all its holds. Never rejects: if this fails, other processes end the lease once it is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#joined?.catch(() => undefined);
    this.#stopTimer();
    await this.#renewing;
    if (this.#joined === undefined) return;
    await this.#database.query("delete from acp_skills.blob_holders where id = $1", [this.id]).catch(() => undefined);
  }

  /** Inserts a hold. Tries once more if the blob was just removed, or if another process has ended the lease of this one. */
  async #insert(number: number, held: Held, isAgain = false): Promise<boolean> {
    try {
      const rows = await this.#database.query(
        `with later as (select set_config('synchronous_commit', 'off', true))
         insert into acp_skills.blob_holds (holder, number, blob, upload)
         select $1, $2, $3, $4 from later
         where exists (select from acp_skills.blobs where id = $3)
           or exists (select from acp_skills.blob_uploads where id = $4::bigint and state = 'used')
         on conflict (holder, number) do update set number = excluded.number returning number`,
        [this.id, number, "blob" in held ? held.blob : null, "upload" in held ? held.upload : null],
      );
      return rows.length > 0;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.state !== "23503") throw error;
      if (isAgain) return false;
      await this.#renew();
      return await this.#insert(number, held, true);
    }
  }

  async #release(number: number): Promise<void> {
    // A renewal in progress could add the hold again. If the deletion fails, the next renewal repeats it.
    if (!this.#held.delete(number) || this.#isClosed) return;
    await this.#renewing;
    await this.#database
      .query("delete from acp_skills.blob_holds where holder = $1 and number = $2", [this.id, number])
      .catch(() => undefined);
  }

  #renewLater(): void {
    this.#stopTimer = every(this.#clock, renewEveryMs, () => {
      this.#renewing = this.#renew().catch((error: unknown) =>
        this.#log("warning", `The holds on blobs were not renewed: ${String(error)}`),
      );
      return this.#renewing;
    });
  }

  /**
   * Renews the lease, restores holds that others freed after its end, and deletes holds that could not be released, all in one statement.
   * Ignores holds that are added while the statement waits for a connection.
   */
  async #renew(): Promise<void> {
    const last = this.#lastNumber;
    const held = [...this.#held].map(([number, one]) => ({ number, blob: null, upload: null, ...one }));
    const columns = (["number", "blob", "upload"] as const).map((column) => held.map((one) => one[column]));
    await this.#database.query(
      `with holder as (
         insert into acp_skills.blob_holders (id, lease_until) values ($1, now() + make_interval(secs => $2))
         on conflict (id) do update set lease_until = excluded.lease_until
       ), released as (
         delete from acp_skills.blob_holds where holder = $1 and number <> all($3::bigint[]) and number <= $6
       )
       insert into acp_skills.blob_holds (holder, number, blob, upload)
       select $1, number, blob, upload from unnest($3::bigint[], $4::text[], $5::bigint[]) as held (number, blob, upload)
       where exists (select from acp_skills.blobs where id = blob)
         or exists (select from acp_skills.blob_uploads where id = upload and state = 'used')
       on conflict do nothing`,
      [this.id, leaseSeconds, ...columns, last],
    );
  }
}
