import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, every } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { isOutage } from "./database/database-error.ts";
import type { Database } from "./database.ts";

export type MemberKind = "server" | "wrapper" | "worker";

/** A member renews its lease this often, by its own clock; the lease counts by that of the database. */
const renewEveryMs = 5_000;
const leaseSeconds = 20;

/** This process as others of the cluster see it. */
export interface Member {
  readonly id: string;
  /** Ends its lease. Idempotent; never rejects. */
  leave(): Promise<void>;
}

export interface MemberOptions {
  /** Default: a new one. */
  readonly id?: string;
  readonly kind: MemberKind;
  readonly version: string;
  /** What runs can ask for of a worker. */
  readonly labels?: readonly string[];
  /** Runs at a time. */
  readonly concurrency?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Announces this process, and goes on with that until it leaves; while the database is not reached, nobody hears of it. */
export async function joinCluster(database: Database, options: MemberOptions): Promise<Member> {
  const { id = randomUUID(), kind, version, labels = [], concurrency = 0, clock, log } = options;
  let leaving: Promise<void> | undefined;
  let isReported = false;

  /** Also announces it again where a long outage has removed it. */
  async function renew(): Promise<void> {
    if (kind === "worker")
      await database.query(
        "insert into acp_skills.worker_labels (labels) values ($1) on conflict (labels) do update set seen_at = now()",
        [[...labels]],
      );
    await database.query(
      `insert into acp_skills.members (id, kind, host, pid, version, labels, concurrency, lease_until)
       values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))
       on conflict (id) do update set seen_at = now(), lease_until = excluded.lease_until`,
      [id, kind, hostname().slice(0, 253), process.pid, version, [...labels], concurrency, leaseSeconds],
    );
  }
  async function renewAgain(): Promise<void> {
    try {
      await renew();
      isReported = false;
    } catch (error) {
      if (!isReported) log("warning", `This member of the cluster was not renewed: ${String(error)}`);
      isReported = true;
    }
  }
  async function leave(): Promise<void> {
    stop();
    await database.query("delete from acp_skills.members where id = $1", [id]).catch(() => undefined);
  }

  await renew().catch((error: unknown) => {
    if (!isOutage(error)) throw error;
  });
  const stop = every(clock, renewEveryMs, renewAgain);
  return { id, leave: () => (leaving ??= leave()) };
}
