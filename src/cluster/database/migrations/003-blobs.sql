-- oldest: 3

-- The bytes that one put wrote. While it writes, they are of a holder; then a content refers to them; then they are unused, and removed.
create table acp_skills.blob_uploads (
  id bigint generated always as identity primary key,
  state text not null default 'writing' check (state in ('writing', 'used', 'unused')),
  holder uuid,
  -- The name in the object store; null for bytes that are in blob_chunks.
  object text,
  size bigint not null default 0,
  -- The SHA-256 of each MiB, one after the other.
  digests bytea not null default ''
);
create index blob_uploads_to_remove on acp_skills.blob_uploads (id) where state <> 'used';
create index blob_uploads_objects on acp_skills.blob_uploads (object) where object is not null;

create table acp_skills.blob_chunks (
  upload bigint not null references acp_skills.blob_uploads (id) on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (upload, number)
);
-- Without an attempt to compress, which costs more than writing.
alter table acp_skills.blob_chunks alter column bytes set storage external;

-- Equal bytes, once. A put of bytes that are there replaces them, which repairs them if they are damaged.
create table acp_skills.blob_contents (
  sha256 bytea primary key,
  upload bigint not null unique references acp_skills.blob_uploads (id),
  replaced bigint
);

create table acp_skills.blobs (
  id text primary key,
  -- The SHA-256 of the owner, and the owner as JSON.
  owner bytea not null,
  owner_json text not null,
  kind text not null,
  size bigint not null,
  sha256 bytea not null references acp_skills.blob_contents (sha256),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index blobs_by_content on acp_skills.blobs (sha256);
create index blobs_by_expiry on acp_skills.blobs (expires_at, id);

-- What each owner has, and all together in the row of the empty owner.
create table acp_skills.blob_usage (
  owner bytea primary key,
  bytes bigint not null,
  blobs bigint not null
) with (fillfactor = 50);

-- Processes that use blobs. What one that does not renew its lease holds is free.
create table acp_skills.blob_holders (
  id uuid primary key,
  lease_until timestamptz not null
);

-- Of a blob: it does not expire. Of an upload: a read of it goes on.
create table acp_skills.blob_holds (
  holder uuid not null references acp_skills.blob_holders (id) on delete cascade,
  number bigint not null,
  blob text references acp_skills.blobs (id) on delete cascade,
  upload bigint references acp_skills.blob_uploads (id),
  primary key (holder, number),
  check ((blob is null) <> (upload is null))
);
create index blob_holds_by_blob on acp_skills.blob_holds (blob) where blob is not null;
create index blob_holds_by_upload on acp_skills.blob_holds (upload) where upload is not null;

-- When the object store was last searched for objects without a row.
create table acp_skills.blob_searches (
  place text primary key,
  searched_at timestamptz not null
);
