-- oldest: 2
-- The files of one version of one skill by their digest: `files` lists them, and the parts contain them one after the other.
create table acp_skills.skill_packs (
  digest bytea primary key check (octet_length(digest) = 32),
  files text not null,
  size bigint not null,
  signature bytea,
  stored_at timestamptz not null default now(),
  used_at timestamptz not null default now()
);
create index on acp_skills.skill_packs (used_at);

create table acp_skills.skill_parts (
  digest bytea not null references acp_skills.skill_packs on delete cascade,
  part integer not null,
  bytes bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (digest, part)
);

-- The last revision. Whoever publishes locks the row until its transaction ends, so that revisions become visible in their order.
create table acp_skills.catalog_revision (
  only_row boolean primary key default true check (only_row),
  -- Changes where the database is another one than before.
  id uuid not null default gen_random_uuid(),
  revision bigint not null
);
insert into acp_skills.catalog_revision (revision) values (0);

-- Published versions. Of a row, only the withdrawal changes, with its revision.
create table acp_skills.catalog (
  slug text not null,
  version text not null,
  name text not null,
  digest bytea not null check (octet_length(digest) = 32),
  revision bigint not null unique,
  published_at timestamptz not null default now(),
  -- As whoever published it calls itself, and the role that the database knows.
  published_by text not null,
  published_as text not null default session_user,
  withdrawn_at timestamptz,
  primary key (slug, version)
);
create index on acp_skills.catalog (digest);
