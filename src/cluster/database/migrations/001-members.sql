-- oldest: 1
create schema if not exists acp_skills;

create table acp_skills.migrations (
  number integer primary key,
  name text not null,
  oldest integer not null,
  applied_at timestamptz not null default now()
);

-- Servers, wrappers and workers. Each renews its lease; what is past it is gone.
create table acp_skills.members (
  id uuid primary key,
  kind text not null check (kind in ('server', 'wrapper', 'worker')),
  host text not null,
  pid integer not null,
  version text not null,
  labels text[] not null default '{}',
  concurrency integer not null default 0,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  lease_until timestamptz not null
);
