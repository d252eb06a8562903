-- oldest: 5

-- Takes a run out of the queue for a worker, if it is still there, was not cancelled, and all that allows it is still in force: `outcome` is
-- `claimed` then, else why not. A run that has effects is only taken where the caller says so, who records that in the same transaction.
-- `resumes`: this worker may have claimed it already, and not have got the answer.
create function acp_skills.claim_run(
  wanted_run text, claiming uuid, has_labels text[], lease_seconds float8, takes_effects boolean, resumes boolean
) returns table (
  outcome text, run_id text, fence integer, spec text, context text, member uuid, worker uuid, labels text[], queued_ms float8
) language plpgsql as $$
#variable_conflict use_column
declare
  run acp_skills.runs;
begin
  -- Changes of approvals take the same lock alone. Each of the statements below sees what was committed before it began: one that was answered
  -- is seen, and none is answered until this has ended.
  perform pg_advisory_xact_lock_shared(hashtextextended(r.person, 38)) from acp_skills.runs r where r.run_id = wanted_run;
  select r.* into run from acp_skills.runs r where r.run_id = wanted_run and r.placed for update;
  outcome := case
    when not found then 'gone'
    when run.status = 'running' and run.worker = claiming and resumes then 'claimed'
    when run.status <> 'queued' then 'taken'
    when run.cancelled_at is not null then 'cancelled'
    when exists (
      select from unnest(run.grant_ids) as needed(id)
      where not exists (
        select from acp_skills.grants g
        where g.id = needed.id and g.person = run.person and (g.expires_at is null or g.expires_at > clock_timestamp())
      )
    ) or exists (
      select from acp_skills.blocks b where b.person = run.person and b.block_key = any (run.block_keys)
    ) then 'revoked'
    when not run.labels <@ has_labels then 'other-labels'
    when run.has_effects and not takes_effects then 'has-effects'
    else 'claimed'
  end;
  if outcome = 'claimed' and run.status = 'queued' then
    update acp_skills.runs r
    set status = 'running', fence = r.fence + 1, worker = claiming, started_at = now(),
      lease_until = now() + make_interval(secs => lease_seconds)
    where r.run_id = wanted_run returning r.* into run;
  end if;
  -- Who does nothing beyond its sandbox may do it twice: a failure of the database that forgets this claim only queues the run again.
  if not run.has_effects then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  return query select outcome, run.run_id, run.fence, run.spec, run.context, run.member, run.worker, run.labels,
    (extract(epoch from now() - run.created_at) * 1000)::float8;
end
$$;
