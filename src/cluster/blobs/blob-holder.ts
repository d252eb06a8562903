import { randomUUID } from "node:crypto";
import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { DatabaseError } from "../database/database-error.ts";
import type { Database } from "../database.ts";
import type { ObjectStore } from "./object-store.ts";

/** Where blobs are. */
export interface BlobContext {
  readonly database: Database;
  readonly holder: BlobHolder;
  /** For contents of more than `above` bytes. */
  readonly objects: ObjectStore | undefined;
}

/** By the clock of this process; the lease counts by that of the database. Longer than an outage that a run survives. */
const renewEveryMs = 20_000;
const leaseSeconds = 120;

/** What is held: a blob, which does not expire, or the bytes of an upload, which somebody reads. */
type Held = { readonly blob: string } | { readonly upload: number };

/** The lease of this process, and all that it holds by that. */
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

  /** Begins the lease. Needed before anything is held or written. */
  join(): Promise<void> {
    return (this.#joined ??= this.#renew().then(
      () => this.#renewLater(),
      (error: unknown) => {
        this.#joined = undefined;
        throw error;
      },
    ));
  }

  /** Holds something until the returned function is called, which never rejects. Undefined if it does not exist. */
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

  /** Ends the lease, and with it what is held. Never rejects: others end it if this cannot. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#joined?.catch(() => undefined);
    this.#stopTimer();
    await this.#renewing;
    if (this.#joined === undefined) return;
    await this.#database.query("delete from acp_skills.blob_holders where id = $1", [this.id]).catch(() => undefined);
  }

  /** Refused where the blob is removed at the same time, and where others have ended the lease of this process: then once more. */
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
    // A renewal that began before could hold it again. The next one does what fails here.
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
   * One statement for all: the lease, holds that others have freed because it was over, and those that could not be released. What is held
   * while it waits for a connection is not its business.
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
