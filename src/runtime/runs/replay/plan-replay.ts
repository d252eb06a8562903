import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { BlobStore } from "../../blobs.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import { type RunEnvironment, findPackages } from "../execute/prepare-run.ts";
import { findMount, noNeeds } from "../plan/plan-run.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunResult, RunSpec } from "../run-spec.ts";
import { type RecordedSkills, findRecordedSkills } from "./find-recorded-skills.ts";
import type { RunStore, StoredRun } from "../run-store.ts";

interface ReplayPlan {
  readonly spec: RunSpec;
  /** Who runs it: sees only the recorded skills, and reads the blobs of the recorded owner that the run used. */
  readonly caller: RunCaller;
}

/**
 * Writes down a recorded run again, for another caller: the same program, arguments and limits, on the same bytes. Throws
 * NOT_EXECUTABLE with everything that is missing.
 */
export async function planReplay(
  recorded: RecordedRun,
  given: {
    readonly runId: string;
    readonly caller: RunCaller;
    readonly environment: Pick<RunEnvironment, "findPackages">;
    readonly signal: AbortSignal;
  },
): Promise<ReplayPlan> {
  const { runId, caller, signal } = given;
  const { spec } = recorded.run;
  const skills = await findRecordedSkills(recorded, caller, signal);
  const blobs = await findRecordedBlobs(recorded, caller.blobs);
  const reasons = [...skills.missing, ...blobs.missing, ...unrecorded(recorded, skills)];
  const seeing: RunCaller = { ...skills.seenBy(caller), blobs: blobs.store };
  if (reasons.length === 0) reasons.push(...(await changedPackages(recorded, skills, { ...given, caller: seeing })));
  if (reasons.length > 0) throw notReplayable(spec.runId, reasons, skills.missing.length > 0 ? hint : undefined);
  const own = spec.skill && skills.find(spec.skill);
  const { program, skill, mounts, brokered, limits, clamped } = spec;
  return {
    caller: seeing,
    spec: {
      runId,
      replays: spec.runId,
      program,
      ...(skill !== undefined && { skill }),
      mounts,
      brokered,
      blobs: spec.blobs,
      limits,
      clamped,
      // What the skill declares, not what the record says: it is a file.
      needs: own === undefined ? noNeeds : permissionsOf(own),
      owner: caller.owner,
      ...(caller.sessionId !== undefined && { session: caller.sessionId }),
      door: caller.door,
      ...(caller.label !== undefined && { label: caller.label }),
    },
  };
}

const hint =
  "Replay it in the project where it ran (--cwd DIR), name the directory of the skill with --skills, or restore its files.";

/** What a run used that no digest names. */
function unrecorded({ run, nested }: RecordedRun, skills: RecordedSkills): readonly string[] {
  const called = [run, ...nested].flatMap(({ spec }) => [...(spec.skill ? [spec.skill] : []), ...spec.brokered]);
  const reasons = called.flatMap((version) => {
    const skill = skills.find(version);
    const { project = "none", isolation } = skill === undefined ? {} : permissionsOf(skill);
    return [
      ...(skill?.manifest?.remote === undefined ? [] : [`the skill ${version.name} runs on another machine`]),
      ...(project === "none" ? [] : [`the skill ${version.name} works on the project, whose files are not recorded`]),
      ...(isolation === undefined
        ? []
        : [`the skill ${version.name} runs without a sandbox, on files of this machine`]),
    ];
  });
  return [...new Set(reasons)];
}

/** The blobs that a run, and the runs that it called, were given; not those that they made. */
async function findRecordedBlobs(
  { run, nested }: RecordedRun,
  store: BlobStore,
): Promise<{ readonly missing: readonly string[]; readonly store: BlobStore }> {
  const { owner } = run.spec;
  const runs: readonly StoredRun[] = [run, ...nested];
  const made = new Set(
    runs.flatMap(({ events, result }) => [...events.map(({ blobId }) => blobId), ...(result?.output_blobs ?? [])]),
  );
  const given = new Map(
    runs.flatMap(({ spec }) => spec.blobs.filter(({ id }) => !made.has(id)).map((blob) => [blob.id, blob] as const)),
  );
  const missing: string[] = [];
  for (const { id, sha256 } of given.values()) {
    const found = await store.stat(owner, id).catch((error: unknown) => {
      if (isSkillsError(error) && error.code === "BLOB_NOT_FOUND") return undefined;
      throw error;
    });
    if (found === undefined) missing.push(`the blob ${id} is no longer stored`);
    else if (found.sha256 !== sha256) missing.push(`the blob ${id} has another content than then`);
  }
  return { missing, store: lending(store, owner, given) };
}

/** A store in which these blobs of another owner can be read, but not removed. */
function lending(store: BlobStore, owner: string, blobs: { has(id: string): boolean }): BlobStore {
  const ownerOf = (own: string, id: string): string => (blobs.has(id) ? owner : own);
  return {
    put: (...given) => store.put(...given),
    stat: (own, id) => store.stat(ownerOf(own, id), id),
    read: (own, id, range) => store.read(ownerOf(own, id), id, range),
    hold: (own, id) => store.hold(ownerOf(own, id), id),
    remove: (own, id) => store.remove(own, id),
  };
}

/** Packages that are not those of the record. */
async function changedPackages(
  { run, nested }: RecordedRun,
  skills: RecordedSkills,
  { caller, environment, signal }: Parameters<typeof planReplay>[1],
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { spec, events } of [run, ...nested]) {
    const skill = spec.skill && skills.find(spec.skill);
    const before = events.find(({ type }) => type === "started")?.["packages"];
    // A nested run that was refused has used none.
    if (skill === undefined || spec.skill === undefined || before === undefined) continue;
    const mount = await findMount(spec.skill, caller, signal);
    const now = await findPackages(mount, caller, environment).catch((error: unknown) => {
      if (isSkillsError(error) && error.code === "SKILL_NOT_READY") return undefined;
      throw error;
    });
    if (now?.digest === before) continue;
    changed.push(
      now === undefined
        ? `the packages of the skill ${skill.name} are no longer installed`
        : `the packages of the skill ${skill.name} are others than then`,
    );
  }
  return [...new Set(changed)];
}

/** A run that ended with a result, and the runs of skills that its code called, at all depths. */
export interface RecordedRun {
  readonly run: StoredRun & { readonly result: RunResult };
  readonly nested: readonly StoredRun[];
}

/** Reads the record of a run. Throws NOT_EXECUTABLE if there is none, or the run has no result to compare with. */
export async function readRecordedRun(records: Pick<RunStore, "read" | "list">, runId: string): Promise<RecordedRun> {
  const run = await records.read(runId);
  if (run === undefined)
    throw notReplayable(runId, ["it is not among the runs of the last 24 hours"], "acp-skills runs list shows them.");
  const { result, status, error } = run;
  if (result === undefined)
    throw notReplayable(runId, [
      `its status is ${status}${error === undefined ? "" : ` (${error.code})`}, so there is no output to compare with`,
    ]);
  const nested = run.spec.brokered.length === 0 ? [] : await readNested(records, runId);
  return { run: { ...run, result: result as RunResult }, nested };
}

async function readNested(records: Pick<RunStore, "list">, runId: string): Promise<readonly StoredRun[]> {
  const children = new Map<string, StoredRun[]>();
  for await (const run of records.list()) {
    const { parent } = run.spec;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), run]);
  }
  const found: StoredRun[] = [...(children.get(runId) ?? [])];
  // Grows while it is walked; a run has one parent, which is older.
  for (const { spec } of found) found.push(...(children.get(spec.runId) ?? []));
  return found;
}

/** The error for a run that cannot be repeated exactly. Each reason is the end of a sentence. */
export function notReplayable(runId: string, reasons: readonly string[], hint?: string): SkillsError {
  return new SkillsError("NOT_EXECUTABLE", `The run ${runId.slice(0, 80)} cannot be replayed: ${reasons.join("; ")}.`, {
    facts: { reasons, ...(hint !== undefined && { hint }) },
  });
}
