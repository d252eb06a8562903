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

-- The ledger. Rows are only ever inserted; what is older than the organisation wants is dropped by month, which is the only way to remove
-- rows, is for the owner of the table only, and leaves a row that says so. `at` is when the row was written; the time of its use is in it.
create sequence acp_skills.ledger_numbers;
create table acp_skills.ledger (
  number bigint not null default nextval('acp_skills.ledger_numbers'),
  at timestamptz not null,
  -- The role that wrote it, whoever its caller is.
  person text not null default session_user,
  -- A line of JSON.
  entry text not null
) partition by range (at);
create index ledger_by_number on acp_skills.ledger (number);

create function acp_skills.refuse_change_of_ledger() returns trigger language plpgsql as $$
begin
  raise exception 'Rows of the ledger cannot be changed or removed, except by month: select acp_skills.drop_ledger(TIME)'
    using errcode = 'insufficient_privilege';
end
$$;
create trigger rows_stay before update or delete on acp_skills.ledger
  for each row execute function acp_skills.refuse_change_of_ledger();
create trigger all_stay before truncate on acp_skills.ledger
  for each statement execute function acp_skills.refuse_change_of_ledger();

-- The last batch of each process that writes: one that is sent again after a lost connection is not written twice.
create table acp_skills.ledger_writers (
  writer uuid primary key,
  batch bigint not null,
  seen_at timestamptz not null default now()
);

-- Makes the partition of a month (UTC), unless it is there. It is attached, which waits for no reader and no writer.
create function acp_skills.make_ledger_month(moment timestamptz) returns void
  language plpgsql security definer set search_path = pg_catalog as $$
declare
  first timestamp := date_trunc('month', moment at time zone 'UTC');
  name text := 'ledger_' || to_char(first, 'YYYY_MM');
begin
  if to_regclass('acp_skills.' || name) is not null then return; end if;
  perform pg_advisory_xact_lock(7331202612);
  -- Not to_regclass: it may have cached that there is none.
  if exists (select from pg_class where relname = name and relnamespace = 'acp_skills'::regnamespace) then return; end if;
  execute format('create table acp_skills.%I (like acp_skills.ledger including all)', name);
  execute format('create trigger all_stay before truncate on acp_skills.%I for each statement '
    'execute function acp_skills.refuse_change_of_ledger()', name);
  execute format('alter table acp_skills.ledger attach partition acp_skills.%I for values from (%L) to (%L)',
    name, first at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
end
$$;

-- For tests; all others write now.
create function acp_skills.write_ledger_at(moment timestamptz, entries text[], process uuid, number bigint) returns text
  language plpgsql security definer set search_path = pg_catalog as $$
begin
  if process is not null then
    insert into acp_skills.ledger_writers as w (writer, batch) values (process, number)
    on conflict (writer) do update set batch = excluded.batch, seen_at = now() where w.batch < excluded.batch;
    if not found then return to_char(moment at time zone 'UTC', 'YYYY-MM'); end if;
  end if;
  perform acp_skills.make_ledger_month(moment);
  -- Ahead of time, so that nobody waits for it when the month begins.
  perform acp_skills.make_ledger_month(moment + interval '20 days');
  insert into acp_skills.ledger (at, entry)
  select moment, entry from unnest(entries) with ordinality as given (entry, place) order by place;
  return to_char(moment at time zone 'UTC', 'YYYY-MM');
end
$$;

-- Writes lines in their order; returns the month that they are in. `process` and `number`: see ledger_writers.
create function acp_skills.write_ledger(entries text[], process uuid default null, number bigint default null) returns text
  language sql security definer set search_path = pg_catalog as $$
  select acp_skills.write_ledger_at(now(), entries, process, number)
$$;

revoke execute on function acp_skills.make_ledger_month, acp_skills.write_ledger_at from public;

-- Drops the months that ended before a time; returns how many rows were in them. Fails where others use the ledger for seconds: try again.
create function acp_skills.drop_ledger(until timestamptz, moment timestamptz default now()) returns float8
  language plpgsql set search_path = pg_catalog as $$
declare
  month record;
  rows bigint;
  gone bigint := 0;
  first text;
  last text;
begin
  perform set_config('lock_timeout', '2s', true);
  delete from acp_skills.ledger_writers where seen_at < now() - interval '7 days';
  for month in
    select c.oid::regclass as place, replace(substr(c.relname, 8), '_', '-') as name
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'acp_skills.ledger'::regclass
      and to_date(substr(c.relname, 8), 'YYYY_MM') + interval '1 month' <= until at time zone 'UTC'
    order by c.relname
  loop
    execute format('select count(*) from %s', month.place) into rows;
    execute format('drop table %s', month.place);
    gone := gone + rows;
    first := coalesce(first, month.name);
    last := month.name;
  end loop;
  if gone > 0 then
    perform acp_skills.write_ledger_at(moment, array[json_build_object(
      'at', to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'event', 'dropped', 'tool', 'ledger',
      'caller', session_user::text, 'about', format('rows of %s to %s', first, last), 'count', gone, 'door', 'ledger'
    )::text], null, null);
  end if;
  return gone;
end
$$;

-- Who may call all servers of the cluster, as `callers` of the configuration of a server has it.
create table acp_skills.callers (
  name text primary key check (name ~ '^[a-z0-9-]{1,64}$' and name not in ('anonymous', 'local')),
  -- JSON of what the configuration says of a caller, without name and token.
  settings text not null,
  changed_at timestamptz not null default now()
);

-- Several of one caller are valid while they are being replaced.
create table acp_skills.tokens (
  -- SHA-256 of the token, which is stored nowhere.
  digest bytea primary key check (length(digest) = 32),
  caller text not null references acp_skills.callers (name) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index tokens_of_caller on acp_skills.tokens (caller);

-- The organisation's policy for all servers, wrappers and workers.
create table acp_skills.policy (
  single boolean primary key default true check (single),
  text text not null,
  set_at timestamptz not null default now(),
  set_by text not null default session_user
);

-- Whoever changes them, by whatever program, servers learn of it when it is committed.
create function acp_skills.notify_callers() returns trigger language plpgsql as $$
begin
  perform pg_notify('acp_skills_callers', '');
  return null;
end
$$;
create trigger callers_changed after insert or update or delete or truncate on acp_skills.callers
  for each statement execute function acp_skills.notify_callers();
create trigger tokens_changed after insert or update or delete or truncate on acp_skills.tokens
  for each statement execute function acp_skills.notify_callers();
create trigger policy_changed after insert or update or delete or truncate on acp_skills.policy
  for each statement execute function acp_skills.notify_callers();
