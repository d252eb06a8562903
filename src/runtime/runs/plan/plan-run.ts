import { hash } from "node:crypto";
import { invalidInput } from "../../../base/failures/invalid-input.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { Json, RunLimits } from "../../sandbox.ts";
import type { HashedFile, HashedSkill } from "../../../skills/hash.ts";
import { isNothing, permissionsOf } from "../../../skills/permissions.ts";
import { type Skill, requirementsFile } from "../../../skills/skill.ts";
import type { Requester, RunCaller, SkillSources } from "../run-caller.ts";
import type { RunSpec, SkillVersion } from "../run-spec.ts";
import {
  defaultRunLimits,
  defaultTimeoutMs,
  maxInputBlobs,
  maxMountedBytes,
  maxMountedSkills,
  maxTimeoutMs,
} from "../run-limits.ts";
import { isBlobId } from "../../blobs/blob-rules.ts";
import type { CodeRunRequest, Planning, RequestedLimits } from "../plan.ts";
import { maxJsonDepth } from "../../../base/json/json-value.ts";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import { isWithin } from "../../../base/paths/location.ts";
import type { SkillSource } from "../../../skills/files.ts";
import { declaresSame } from "../../../skills/skillset.ts";

const maxCodeBytes = 1024 * 1024;

/** Plans a run of code that the model wrote. Throws if the request itself is invalid. */
export async function planCodeRun(planning: Planning, request: CodeRunRequest): Promise<RunSpec> {
  const { code, entrypoint, args = {}, mountSkills = [] } = request;
  const refuse = (field: string, expected: string, actual: unknown): SkillsError =>
    invalidInput("run_code", [{ field, expected, actual }]);
  if (Buffer.byteLength(code) > maxCodeBytes) throw refuse("/code", `at most ${maxCodeBytes} bytes`, "more");
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(entrypoint))
    throw refuse("/entrypoint", "the name of a function that the code defines", entrypoint.slice(0, 80));
  if (mountSkills.length > maxMountedSkills)
    throw refuse("/mount_skills", `at most ${maxMountedSkills} names`, mountSkills.length);
  checkDepth("run_code", args);
  const skills = new Map(mountSkills.map((name) => [name, planning.caller.skills.find(name).skill]));
  const split = splitByNeeds(planning.caller, [...new Set(skills.values())]);
  return await toSpec(planning, { type: "code", code, entrypoint, args }, { ...split, request, tool: "run_code" });
}

/** Writes the spec of a run whose request was checked. Throws BLOB_NOT_FOUND, and SKILL_NOT_READY if the skills are too large. */
export async function toSpec(
  { runId, caller, signal, outer }: Planning,
  program: RunSpec["program"],
  parts: {
    readonly skill?: Skill;
    readonly mounted: readonly Skill[];
    readonly brokered: readonly Skill[];
    readonly request: RequestedLimits;
    readonly tool: string;
  },
): Promise<RunSpec> {
  const { skill, mounted, brokered, request, tool } = parts;
  // A skill on another machine gets no blobs.
  const args = program.type === "script" ? program.argv : program.type === "remote" ? null : program.args;
  const blobs = await findBlobs(caller, tool, request.inputBlobs ?? [], args);
  const mounts = await planMounts(caller, mounted, signal);
  const called: SkillVersion[] = [];
  // Each called skill has a sandbox of its own, and so all of its space.
  for (const one of brokered) called.push(...(await planMounts(caller, [one], signal)));
  const own = mounts.find(({ slug }) => slug === skill?.slug);
  return {
    runId,
    ...(outer !== undefined && { parent: outer.runId }),
    program,
    ...(own !== undefined && { skill: own }),
    mounts,
    brokered: called,
    blobs: blobs.map(({ id, kind, size, sha256 }) => ({ id, kind, size, sha256 })),
    ...limitsOf({ timeoutMs: request.timeoutMs, leftMs: outer?.leftMs }, skill),
    needs: skill ? permissionsOf(skill) : noNeeds,
    ...requesterOf(caller),
  };
}

/** Returns the fields of a spec that identify the caller. */
export function requesterOf(caller: Requester): Pick<RunSpec, "owner" | "session" | "subagent" | "door" | "label"> {
  const { owner, sessionId, subagent, transport, label } = caller;
  return {
    owner,
    ...(sessionId !== undefined && { session: sessionId }),
    ...(subagent !== undefined && { subagent }),
    door: transport,
    ...(label !== undefined && { label }),
  };
}

/** The needs of code that the model wrote: none. */
export const noNeeds: RunSpec["needs"] = { network: [], secrets: [], project: "none" };

/** Splits skills into those that other code can import directly and those that need a sandbox of their own. */
export function splitByNeeds(
  { sourceOf }: SkillSources,
  skills: readonly Skill[],
): { readonly mounted: readonly Skill[]; readonly brokered: readonly Skill[] } {
  const hasRequirements = (skill: Skill): boolean => {
    const { files, bytes } = sourceOf(skill);
    const real = files.resolve(`${skill.directory}/${requirementsFile}`);
    return real !== undefined && bytes.stamp(real) !== undefined;
  };
  const isApart = (skill: Skill): boolean =>
    skill.kind === "action" &&
    (!isNothing(permissionsOf(skill)) ||
      (skill.manifest?.dependencies?.skills ?? []).length > 0 ||
      hasRequirements(skill));
  return {
    mounted: skills.filter((skill) => !isApart(skill)),
    brokered: skills.filter(isApart),
  };
}

/** A mounted skill with its files, as the digest of the spec describes them. */
export interface PlannedMount {
  readonly skill: Skill;
  readonly files: HashedSkill["files"];
}

/** The mounts that this process planned: if it also executes the spec, it does not walk the skills again. */
const planned = new WeakMap<SkillVersion, PlannedMount>();

async function planMounts(caller: RunCaller, skills: readonly Skill[], signal: AbortSignal): Promise<SkillVersion[]> {
  const mounts: SkillVersion[] = [];
  let room = maxMountedBytes;
  for (const skill of skills) {
    const hashed = await caller.hashFiles(skill, signal);
    const { files, digest, tooLarge: isTooLarge } = hashed;
    room -= files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    if (digest === undefined || isTooLarge === true || room < 0) throw skillTooLarge(skill.name);
    await checkDeclared(skill, hashed, caller.sourceOf(skill));
    const mount = { name: skill.name, slug: skill.slug, version: skill.version, digest };
    planned.set(mount, { skill, files });
    mounts.push(mount);
  }
  return mounts;
}

/** Finds the skill and the files that a mount names. Throws SKILL_NOT_READY if the files no longer match its digest. */
export async function findMount(mount: SkillVersion, caller: RunCaller, signal: AbortSignal): Promise<PlannedMount> {
  const known = planned.get(mount);
  if (known !== undefined) return known;
  const { skill } = caller.skills.find(mount.slug, mount.version);
  const hashed = await caller.hashFiles(skill, signal);
  if (hashed.digest !== mount.digest) throw skillChanged(mount.name);
  await checkDeclared(skill, hashed, caller.sourceOf(skill));
  return { skill, files: hashed.files };
}

export function skillChanged(name: string, path?: string): SkillsError {
  const what = path === undefined ? "" : `: ${JSON.stringify(path)} is not the file that was planned`;
  const facts = { hint: "Try again.", retryable: true };
  return new SkillsError("SKILL_NOT_READY", `The skill ${name} changed before it ran${what}.`, { facts });
}

export function skillTooLarge(name: string): SkillsError {
  const hint = `All skills of one run together may have ${maxMountedBytes / 1024 / 1024} MiB.`;
  const facts = { hint, retryable: false };
  return new SkillsError("SKILL_NOT_READY", `The skill ${name} is too large to be run.`, { facts });
}

/** Computes the limits of a run: the requested ones, capped by the maximum and by the skill's own limits. */
function limitsOf(
  asked: { readonly timeoutMs?: number | undefined; readonly leftMs?: number | undefined },
  skill?: Skill,
): { readonly limits: RunLimits; readonly clamped: boolean } {
  const own = skill?.manifest?.limits;
  const wanted = asked.timeoutMs ?? defaultTimeoutMs;
  const timeoutMs = Math.min(wanted, maxTimeoutMs, own?.timeout_ms ?? Infinity, asked.leftMs ?? Infinity);
  const memoryBytes = Math.min(defaultRunLimits.memoryBytes, (own?.memory_mb ?? Infinity) * mebibyte);
  const limits = { ...defaultRunLimits, timeoutMs: Math.max(1, Math.floor(timeoutMs)), memoryBytes };
  return { limits, clamped: asked.timeoutMs !== undefined && limits.timeoutMs < asked.timeoutMs };
}

const mebibyte = 1024 * 1024;

/**
 * Finds the blobs that a run mounts: the requested ones, which must exist, and other blobs of the caller that an argument names. Throws
 * BLOB_NOT_FOUND.
 */
async function findBlobs({ blobs, owner }: RunCaller, tool: string, asked: readonly string[], args: Json) {
  const wanted = [...new Set(asked)];
  const values = [...levelsOf(args)].flat();
  const isMentioned = (value: Json): value is string =>
    typeof value === "string" && isBlobId(value) && !wanted.includes(value);
  const mentioned = [...new Set(values.filter(isMentioned))];
  if (wanted.length + mentioned.length > maxInputBlobs) {
    const expected = `at most ${maxInputBlobs} blobs`;
    throw invalidInput(tool, [{ field: "/input_blobs", expected, actual: wanted.length + mentioned.length }]);
  }
  const found = await Promise.all(wanted.map((id) => blobs.stat(owner, id)));
  const others = await Promise.all(mentioned.map((id) => blobs.stat(owner, id).catch(undefinedFor("BLOB_NOT_FOUND"))));
  return [...found, ...others.filter((blob) => blob !== undefined)];
}

/** Returns a handler that yields undefined for errors with this code and throws all others. */
export function undefinedFor(code: SkillsError["code"]): (error: unknown) => undefined {
  return (error) => {
    if (!isSkillsError(error) || error.code !== code) throw error;
  };
}

/** Throws VALIDATION_ERROR for JSON nested deeper than the sandbox accepts. */
export function checkDepth(tool: string, args: Json): void {
  let depth = 0;
  for (const level of levelsOf(args)) {
    if (depth++ === maxJsonDepth && level.some((value) => typeof value === "object" && value !== null))
      throw invalidInput(tool, [
        { field: "/args", expected: `JSON at most ${maxJsonDepth} levels deep`, actual: "deeper" },
      ]);
  }
}

/** Yields all values inside a value, level by level. Not recursive, because the value is untrusted. */
function* levelsOf(value: Json): Generator<readonly Json[]> {
  const inside = (holder: Json): readonly Json[] =>
    typeof holder === "object" && holder !== null ? Object.values(holder) : [];
  for (let level: readonly Json[] = [value]; level.length > 0; level = level.flatMap(inside)) yield level;
}

/** Reads a file of a skill with exactly the bytes that were hashed; undefined if the bytes changed or the file is gone. */
export function readPlannedFile(
  { files, bytes }: SkillSource,
  directory: string,
  { path, size_bytes: size, sha256 }: HashedFile,
): Uint8Array | undefined {
  const file = path.split("/").reduce(joinPath, directory);
  let content = bytes.head(file, size)?.bytes;
  if (content === undefined) {
    // A file may be a link to another one of the skill.
    const real = files.resolve(file);
    content = real !== undefined && isWithin(real, directory) ? bytes.head(real, size)?.bytes : undefined;
  }
  return content !== undefined && hash("sha256", content, "hex") === sha256 ? content : undefined;
}

/** By skill, the digest whose files are known to declare the same as the skill. */
const checked = new WeakMap<Skill, string>();

/**
 * Whether a skill declares what the files of a digest declare; reads those files. False if the skill was read from other bytes, or
 * declares something in a file that the digest does not cover.
 */
export async function isDeclared(skill: Skill, { digest, files }: HashedSkill, source: SkillSource): Promise<boolean> {
  if (digest !== undefined && checked.get(skill) === digest) return true;
  const isSame = await declaresSame(skill, (path) => {
    const file = files.find((other) => other.path === path);
    return file && readPlannedFile(source, skill.directory, file);
  });
  if (isSame && digest !== undefined) checked.set(skill, digest);
  return isSame;
}

/** Checks that a skill and the files of its digest declare the same: they are approved together. Throws SKILL_NOT_READY if not. */
export async function checkDeclared(skill: Skill, hashed: HashedSkill, source: SkillSource): Promise<void> {
  const isPlain = isNothing(permissionsOf(skill)) && (skill.allowedTools ?? []).length === 0;
  if (hashed.digest === undefined || isPlain || (await isDeclared(skill, hashed, source))) return;
  const message = `What the skill ${skill.name} declares is not what its files declare now.`;
  const hint =
    "If it was just changed, list the skills again. SKILL.md and skill.toml must be files of the skill, not links to files outside of its directory.";
  throw new SkillsError("SKILL_NOT_READY", message, { facts: { hint, retryable: true } });
}
