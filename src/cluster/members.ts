import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, every } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { isOutage } from "./database/database-error.ts";
import type { Database } from "./database.ts";

export type MemberKind = "server" | "wrapper" | "worker";

/** The interval of renewals, by the clock of the member; the lease counts by the clock of the database. */
const renewEveryMs = 5_000;
const leaseSeconds = 20;

/** The entry of this process in the list of members. */
export interface Member {
  readonly id: string;
  /** Ends the lease of the member. Idempotent; never rejects. */
  leave(): Promise<void>;
}

export interface MemberOptions {
  /** Default: a new id. */
  readonly id?: string;
  readonly kind: MemberKind;
  readonly version: string;
  /** The labels that runs can demand of a worker. */
  readonly labels?: readonly string[];
  /** The maximum number of runs at a time. */
  readonly concurrency?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Announces this process until it leaves. In an outage of the database, other members do not see it. */
export async function joinCluster(database: Database, options: MemberOptions): Promise<Member> {
  const { id = randomUUID(), kind, version, labels = [], concurrency = 0, clock, log } = options;
  let leaving: Promise<void> | undefined;
  let isReported = false;

  /** Renews the lease, and announces the member again if a long outage has removed it. */
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
