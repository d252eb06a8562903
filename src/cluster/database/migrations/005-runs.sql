-- oldest: 5
-- Runs: what they are, how far they got, and their place in the queue. The row is the truth: a job of the queue only wakes a worker.
create table acp_skills.runs (
  run_id text primary key,
  -- SHA-256 of the owner.
  owner_key bytea not null,
  -- Whose approvals count.
  person text not null default session_user,
  -- Whether workers execute it; else the member that recorded it does.
  placed boolean not null,
  -- The member that waits for it or, where it is not placed, executes it.
  member uuid,
  status text not null
    check (status in ('queued', 'running', 'interrupted', 'completed', 'failed', 'refused', 'cancelled')),
  -- What it demands of a worker.
  labels text[] not null default '{}',
  priority integer not null default 0,
  spec text not null,
  -- What a worker needs besides the spec; null where no worker executes it.
  context text,
  -- Approvals by which it is allowed: each has to exist when it is claimed.
  grant_ids text[] not null default '{}',
  -- See acp_skills.blocks: none of them may exist when it is claimed.
  block_keys bytea[] not null default '{}',
  -- Whether it reaches beyond its sandbox: such a run is never executed twice.
  has_effects boolean not null default false,
  -- Counts its claims: what an earlier claim reports has no effect.
  fence integer not null default 0,
  worker uuid,
  lease_until timestamptz,
  -- When a job last woke workers for it.
  woken_at timestamptz not null default now(),
  cancelled_at timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz not null,
  -- JSON of its steps, without what was printed.
  events text not null default '[]',
  result text,
  error text,
  bytes integer not null
);

create index runs_queued on acp_skills.runs (woken_at) where status = 'queued' and placed;
create index runs_running on acp_skills.runs (lease_until) where status = 'running' and placed;
create index runs_queued_of_owner on acp_skills.runs (owner_key) where status = 'queued' and placed;
create index runs_of_owner on acp_skills.runs (owner_key, created_at);
create index runs_created on acp_skills.runs (created_at);
create index runs_expired on acp_skills.runs (expires_at);

-- What running runs report; removed some time after their end.
create table acp_skills.run_events (
  run_id text not null references acp_skills.runs on delete cascade,
  fence integer not null,
  number integer not null,
  event text not null,
  primary key (run_id, fence, number)
);

-- The queues of pg-boss: one for each set of labels that runs demand.
create table acp_skills.queues (
  name text primary key,
  labels text[] not null,
  created_at timestamptz not null default now()
);

-- Labels that workers had, also those that are gone: autoscaling may bring them back.
create table acp_skills.worker_labels (
  labels text[] primary key,
  seen_at timestamptz not null default now()
);
