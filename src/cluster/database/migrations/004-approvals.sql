-- oldest: 4

-- What people approved and blocked. It belongs to a person: the role with which a process connects. Servers and workers share one, who owns
-- these tables and sees all rows; people who wrap agents have a role each, and see and change their own rows only.
--
-- A revocation that has been answered is never overtaken by a claim:
-- 1. Each change takes pg_advisory_xact_lock(hashtextextended(person, 38)) before it writes, and holds it until it is committed.
-- 2. Who acts on approvals takes pg_advisory_xact_lock_shared(hashtextextended(person, 38)) first, in a statement of its own (what a later
--    statement reads was committed before it began), and asks in a later statement of the same transaction whether the grant is there (person
--    and id, because other people can choose ids of theirs) and not expired, and that there is no block.
-- 3. Where that is one statement only, `for share` on the grant's row does for grants, not for blocks.
create table acp_skills.approval_scopes (
  person text not null default session_user,
  -- SHA-256 of `scope`.
  scope_key bytea not null,
  -- JSON: "everywhere", or {"project": …}.
  scope text not null,
  -- JSON of all but grants and blocks.
  head text not null,
  -- Another one after each change.
  revision uuid not null default gen_random_uuid(),
  primary key (person, scope_key)
);

create table acp_skills.grants (
  number bigint generated always as identity primary key,
  person text not null default session_user,
  scope_key bytea not null,
  position integer not null,
  id text not null,
  -- SHA-256 of the files of the approved version.
  digest bytea not null,
  expires_at timestamptz,
  -- JSON of the grant.
  value text not null
);
create index grants_of_scope on acp_skills.grants (person, scope_key, position);
create index grants_by_id on acp_skills.grants (person, id);
create index grants_by_digest on acp_skills.grants (person, digest);

create table acp_skills.blocks (
  number bigint generated always as identity primary key,
  person text not null default session_user,
  scope_key bytea not null,
  position integer not null,
  -- SHA-256 of the JSON of [scope, skill, from].
  block_key bytea not null,
  -- JSON of the block.
  value text not null
);
create index blocks_of_scope on acp_skills.blocks (person, scope_key, position);
create index blocks_by_key on acp_skills.blocks (person, block_key);

-- The files of approved versions, as long as a grant names the digest.
create table acp_skills.approved_copies (
  person text not null default session_user,
  digest bytea not null,
  -- JSON of a list of path, sha256 and text.
  files text not null,
  primary key (person, digest)
);

-- Also where an operator deletes rows by hand, servers read their scopes again.
create function acp_skills.approvals_were_deleted() returns trigger language plpgsql as $$
begin
  update acp_skills.approval_scopes s set revision = gen_random_uuid()
  where (s.person, s.scope_key) in (select person, scope_key from gone);
  return null;
end
$$;
create trigger grants_were_deleted after delete on acp_skills.grants
  referencing old table as gone for each statement execute function acp_skills.approvals_were_deleted();
create trigger blocks_were_deleted after delete on acp_skills.blocks
  referencing old table as gone for each statement execute function acp_skills.approvals_were_deleted();

alter table acp_skills.approval_scopes enable row level security;
alter table acp_skills.grants enable row level security;
alter table acp_skills.blocks enable row level security;
alter table acp_skills.approved_copies enable row level security;
create policy own on acp_skills.approval_scopes using (person = session_user::text);
create policy own on acp_skills.grants using (person = session_user::text);
create policy own on acp_skills.blocks using (person = session_user::text);
create policy own on acp_skills.approved_copies using (person = session_user::text);
