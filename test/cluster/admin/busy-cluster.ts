import { randomUUID } from "node:crypto";
import { version } from "../../../src/base/version.ts";
import type { Queries } from "../../../src/cluster/database.ts";
import type { MemberKind } from "../../../src/cluster/members.ts";

/** A member that renewed its lease, or lost it some seconds ago. */
export async function addMember(
  queries: Queries,
  kind: MemberKind,
  { labels = [], lease = 15, concurrency = 2, of = version, host = "one" }: { readonly labels?: readonly string[]; readonly lease?: number; readonly concurrency?: number; readonly of?: string; readonly host?: string } = {}, // prettier-ignore
): Promise<string> {
  const id = randomUUID();
  await queries.query(
    `insert into acp_skills.members (id, kind, host, pid, version, labels, concurrency, started_at, lease_until)
     values ($1, $2, $3, 7, $4, $5, $6, now() - interval '90 seconds', now() + make_interval(secs => $7::float8))`,
    [id, kind, host, of, [...labels], concurrency, lease],
  );
  return id;
}

export async function addRun(
  queries: Queries,
  id: string,
  { status = "queued", labels = [], age = 1, worker, lease }: { readonly status?: string; readonly labels?: readonly string[]; readonly age?: number; readonly worker?: string; readonly lease?: number } = {}, // prettier-ignore
): Promise<void> {
  await queries.query(
    `insert into acp_skills.runs (run_id, owner_key, placed, status, labels, worker, fence, spec, bytes, expires_at, created_at, started_at, lease_until)
     values ($1, '\\x00', true, $2, $3, $4, 1, '{}', 2, now() + interval '1 day', now() - make_interval(secs => $5::float8), now() - make_interval(secs => $5::float8),
       now() + make_interval(secs => $6::float8))`,
    [id, status, [...labels], worker ?? null, age, lease ?? null],
  );
}
