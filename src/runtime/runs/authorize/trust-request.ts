import { isSkillsError } from "../../../base/errors.ts";
import { type Steps, runInSlices } from "../../../base/promises/slices.ts";
import type { SkillSource } from "../../../skills/files.ts";
import type { HashedFile } from "../../../skills/hash.ts";
import { licenseForPolicy } from "../../../skills/licenses.ts";
import type { RemoteOrigin } from "../../../skills/skillset.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import { type CopiedFile, maxTextBytes, maxTextBytesTogether } from "../../../skills/copied-files.ts";
import type { Asker, FullTrustRequest } from "../../trust.ts";
import type { PublishedOrigin, Subject } from "../../trust/grants.ts";
import { skillChanged } from "../plan/plan-run.ts";
import { readPlannedFile } from "../plan/read-planned-file.ts";
import type { RunCaller } from "../run-caller.ts";
import { needsOf } from "../../../skills/permissions.ts";

/** A skill as trust knows it, without its bytes. */
export function subjectOf(
  skill: Skill,
  {
    skills,
    sourceOf,
  }: { readonly skills: Pick<RunCaller["skills"], "isOwn" | "rootOf" | "remoteOf"> } & Pick<RunCaller, "sourceOf">,
): Omit<Subject, "digest"> {
  const { name, slug, version, directory } = skill;
  const [isOwn, source] = [skills.isOwn(skill), skills.rootOf(skill)];
  const license = (): string => licenseForPolicy(sourceOf(skill), skill);
  const remote = skills.remoteOf(skill);
  return { name, slug, version, isOwn, source, directory, license, origin: remote && originOf(remote, directory) };
}

/** An offered skill, or another version of it, as trust knows it. */
export function subjectOfOffered(
  { isOwn, sources, remote, ...offered }: OfferedSkill,
  source: SkillSource,
  skill = offered.skill,
): Omit<Subject, "digest"> {
  const skills = { isOwn: () => isOwn === true, rootOf: () => sources[0] ?? skill.directory, remoteOf: () => remote };
  return subjectOf(skill, { skills, sourceOf: () => source });
}

function originOf({ label, provenanceOf }: RemoteOrigin, directory: string): PublishedOrigin {
  const { digest, commit } = provenanceOf(directory) ?? {};
  return {
    source: label,
    ...(digest !== undefined && commit !== undefined && { commit: { id: commit, digest } }),
  };
}

export function askerOf({
  owner,
  caller,
  project,
  door,
  sessionId,
  ask,
  grants,
}: Pick<RunCaller, "owner" | "caller" | "project" | "door" | "sessionId" | "ask" | "grants">): Asker {
  return { owner, caller, directory: project, door, sessionId, ask, grants };
}

/** What a skill, with the bytes of a digest, wants to do. */
export function trustRequest(
  { skill, digest }: { readonly skill: Skill; readonly digest: string },
  caller: Pick<RunCaller, "skills" | "sourceOf" | "hashFiles">,
  { signal, ...rest }: Pick<FullTrustRequest, "needs" | "calledBy"> & { readonly signal: AbortSignal },
): FullTrustRequest {
  return {
    ...rest,
    subject: { ...subjectOf(skill, caller), digest },
    wants: needsOf(skill),
    expects: skill.allowedTools,
    lookAlike: () => caller.skills.lookAlike(skill),
    async files() {
      const hashed = await caller.hashFiles(skill, signal).catch((error: unknown) => {
        // It changes, or was deleted, while its question is open.
        throw isSkillsError(error) && error.code === "SKILL_NOT_READY" ? skillChanged(skill.name) : error;
      });
      if (hashed.digest !== digest) throw skillChanged(skill.name);
      const copies: CopiedFile[] = [];
      await runInSlices(copyTexts(skill, hashed.files, caller.sourceOf(skill), copies), {
        now: () => performance.now(),
        slice: 3,
      });
      return copies;
    },
  };
}

function* copyTexts(
  { name, directory }: Skill,
  files: readonly HashedFile[],
  source: SkillSource,
  copies: CopiedFile[],
): Steps<void> {
  let room = maxTextBytesTogether;
  for (const file of files) {
    const { path, sha256, size_bytes: size } = file;
    const isShort = size <= Math.min(maxTextBytes, room);
    const bytes = isShort ? readPlannedFile(source, directory, file) : undefined;
    if (isShort && bytes === undefined) throw skillChanged(name, path);
    const text = bytes && toText(bytes);
    if (text !== undefined) room -= size;
    copies.push({ path, sha256, ...(text !== undefined && { text }) });
    yield;
  }
}

function toText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // Not text.
  }
}
