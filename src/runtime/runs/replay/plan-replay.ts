import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { BlobStore } from "../../blobs.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import { type PackageFinder, findPackages } from "../execute/prepare-run.ts";
import { findMount, noNeeds, requesterOf, skillChanged, undefinedFor } from "../plan/plan-run.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunResult, RunSpec, SkillVersion } from "../run-spec.ts";
import type { RunStore, StoredRun } from "../run-store.ts";
import { byNewestVersion } from "../../../skills/manifest.ts";
import type { Skill } from "../../../skills/skill.ts";

/**
 * Writes the spec of a recorded run again, for another caller: the same program, arguments and limits, on the same bytes. The returned
 * caller sees only the recorded skills, and reads the blobs of the recorded owner that the run used. Throws NOT_EXECUTABLE with everything
 * that is missing.
 */
export async function planReplay(
  recorded: RecordedRun,
  given: {
    readonly runId: string;
    readonly caller: RunCaller;
    readonly environment: PackageFinder;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly spec: RunSpec; readonly caller: RunCaller }> {
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
  // The needs come from the skill, not from the record, which is a file that may have been changed.
  const needs = own === undefined ? noNeeds : permissionsOf(own);
  const again = { program, ...(skill && { skill }), mounts, brokered, blobs: spec.blobs, limits, clamped, needs };
  return { caller: seeing, spec: { ...again, runId, replays: spec.runId, ...requesterOf(caller) } };
}

const hint =
  "Replay it in the project where it ran (--cwd DIR), name the directory of the skill with --skills, or restore its files.";

/** Lists the inputs of a run that no digest names, each as the end of a sentence. */
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

/** Finds the blobs that a run and the runs that it called were given, without those that they made. */
async function findRecordedBlobs({ run, nested }: RecordedRun, store: BlobStore) {
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
    const found = await store.stat(owner, id).catch(undefinedFor("BLOB_NOT_FOUND"));
    if (found === undefined) missing.push(`the blob ${id} is no longer stored`);
    else if (found.sha256 !== sha256) missing.push(`the blob ${id} has another content than then`);
  }
  return { missing, store: lending(store, owner, given) };
}

/** Returns a store in which these blobs of another owner can be read, but not removed. */
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

/** Lists the packages that differ from those of the record, each as the end of a sentence. */
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
    const now = await findPackages(mount, caller, environment).catch(undefinedFor("SKILL_NOT_READY"));
    const how = now === undefined ? "no longer installed" : "others than then";
    if (now?.digest !== before) changed.push(`the packages of the skill ${skill.name} are ${how}`);
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
  // The list grows while it is iterated; that ends, because each run has one parent, which is older.
  for (const { spec } of found) found.push(...(children.get(spec.runId) ?? []));
  return found;
}

/** Creates the error for a run that cannot be repeated exactly. Each reason is the end of a sentence. */
export function notReplayable(runId: string, reasons: readonly string[], hint?: string): SkillsError {
  return new SkillsError("NOT_EXECUTABLE", `The run ${runId.slice(0, 80)} cannot be replayed: ${reasons.join("; ")}.`, {
    facts: { reasons, ...(hint !== undefined && { hint }) },
  });
}

/** The skills that a recorded run used, with exactly the bytes that it used. */
type RecordedSkills = Awaited<ReturnType<typeof findRecordedSkills>>;

/**
 * Finds skills by name, version and digest, in any directory. If others with that name came or went, the name may be qualified now, or no
 * longer be. Such a skill is used under its recorded name, to which the code of the run refers.
 */
async function findRecordedSkills({ run, nested }: RecordedRun, caller: RunCaller, signal: AbortSignal) {
  const found = new Map<string, Skill>();
  const digests = new Map<Skill, string>();
  const originals = new Map<Skill, Skill>();
  const missing: string[] = [];
  for (const version of [run, ...nested].flatMap(({ spec }) => [...spec.mounts, ...spec.brokered])) {
    const key = keyOf(version);
    if (found.has(key)) continue;
    const candidates = [...caller.skills.all()].filter((skill) => isAlike(skill, version));
    const original = await findSkill(version, candidates, caller, signal);
    if (original === undefined) {
      const why = whyMissing(version, candidates);
      if (!missing.includes(why)) missing.push(why);
      continue;
    }
    const { name, slug } = version;
    const isRenamed = original.name !== name || original.slug !== slug;
    const skill = isRenamed ? Object.freeze({ ...original, name, slug }) : original;
    found.set(key, skill);
    digests.set(skill, version.digest);
    originals.set(skill, original);
  }
  const originalOf = (skill: Skill): Skill => originals.get(skill) ?? skill;
  return {
    /** Why some of the skills cannot be used, each as the end of a sentence. */
    missing,
    find: (version: SkillVersion): Skill | undefined => found.get(keyOf(version)),
    /** Returns a caller that sees only these skills, each with exactly these bytes. */
    seenBy: (whole: RunCaller): RunCaller => ({
      ...whole,
      skills: {
        ...whole.skills,
        find: findAmong([...digests.keys()]),
        all: () => digests.keys(),
        isOwn: (skill) => whole.skills.isOwn(originalOf(skill)),
        rootOf: (skill) => whole.skills.rootOf(originalOf(skill)),
        remoteOf: (skill) => whole.skills.remoteOf(originalOf(skill)),
      },
      async hashFiles(skill, abort) {
        const hashed = await whole.hashFiles(skill, abort);
        if (hashed.digest !== digests.get(skill)) throw skillChanged(skill.name);
        return hashed;
      },
    }),
  };
}

function keyOf({ name, version, digest }: SkillVersion): string {
  return JSON.stringify([name, version, digest]);
}

/** Whether a skill may be the recorded one: it has the same name, or one of the two names is qualified. */
function isAlike({ name, slug }: Skill, recorded: SkillVersion): boolean {
  return name === recorded.name || slug.endsWith(`-${recorded.slug}`) || recorded.slug.endsWith(`-${slug}`);
}

async function findSkill(
  { version, digest }: SkillVersion,
  candidates: readonly Skill[],
  { hashFiles }: RunCaller,
  signal: AbortSignal,
): Promise<Skill | undefined> {
  for (const skill of candidates) {
    if (skill.version !== version) continue;
    try {
      if ((await hashFiles(skill, signal)).digest === digest) return skill;
    } catch (error) {
      // A skill that cannot be read is not the recorded one.
      if (!isSkillsError(error) || error.code === "INTERNAL") throw error;
    }
  }
  return undefined;
}

function whyMissing({ name, version, digest }: SkillVersion, candidates: readonly Skill[]): string {
  const what = `the skill ${name} ${version} (${digest.slice(0, "sha256:".length + 12)}…)`;
  const present = candidates.filter((skill) => skill.name === name).map((skill) => skill.version);
  if (present.includes(version)) return `${what} is no longer installed: its files changed since`;
  const others = present.length === 0 ? "" : `; there is ${present.slice(0, 5).join(", ")}`;
  return `${what} is not installed here${others}`;
}

function findAmong(skills: readonly Skill[]): RunCaller["skills"]["find"] {
  return (nameOrSlug, version) => {
    const slugs = skills.filter(({ slug }) => slug === nameOrSlug);
    const versions = (slugs.length > 0 ? slugs : skills.filter(({ name }) => name === nameOrSlug)).toSorted((a, b) =>
      byNewestVersion(a.version, b.version),
    );
    const skill = version === undefined ? versions[0] : versions.find((other) => other.version === version);
    if (skill !== undefined) return { skill, versions };
    throw new SkillsError("SKILL_NOT_FOUND", `The run that is replayed used no skill ${JSON.stringify(nameOrSlug)}.`);
  };
}
