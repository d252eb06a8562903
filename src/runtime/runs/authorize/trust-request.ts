import { isUtf8 } from "node:buffer";
import { type Signatures, openSignatures } from "../../../skills/signature.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import type { SkillSource } from "../../../skills/files.ts";
import type { HashedFile, SkillHasher } from "../../../skills/hash.ts";
import { licenseForPolicy } from "../../../skills/licenses.ts";
import type { RemoteOrigin } from "../../../skills/skillset.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../../skills/skill.ts";
import { type CopiedFile, maxTextBytes, maxTextBytesTogether } from "../../../skills/files.ts";
import type { TrustScope, FullTrustRequest, Trust } from "../../trust.ts";
import { readHostCommands } from "../../../skills/manifest.ts";
import type { PublishedOrigin, UnhashedSkill } from "../../trust/grants.ts";
import { readPlannedFile, skillChanged } from "../plan/plan-run.ts";
import type { CallerSkills, RunCaller, SkillSources } from "../run-caller.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import type { ConfiguredGrants } from "../../trust/configured-grants.ts";
import type { Standing } from "../../trust/personal-trust.ts";

/** Describes a skill as trust knows it, without the digest of its bytes. */
export function toJudgedSkill(
  skill: Skill,
  { skills, sourceOf }: SkillSources & { readonly skills: Pick<CallerSkills, "isOwn" | "rootOf" | "remoteOf"> },
): UnhashedSkill {
  const { name, slug, version, directory } = skill;
  const [isOwn, source] = [skills.isOwn(skill), skills.rootOf(skill)];
  const license = (): string => licenseForPolicy(sourceOf(skill), skill);
  const hostCommands = (): readonly string[] => readHostCommands(skill.file, sourceOf(skill).files);
  const remote = skills.remoteOf(skill);
  const origin = remote && originOf(remote, directory);
  return { name, slug, version, isOwn, source, directory, license, hostCommands, origin };
}

/** Describes an offered skill, or another version of it, as trust knows it. */
export function offeredToJudged(
  { isOwn, sources, remote, ...offered }: OfferedSkill,
  source: SkillSource,
  skill = offered.skill,
): UnhashedSkill {
  const skills = { isOwn: () => isOwn === true, rootOf: () => sources[0] ?? skill.directory, remoteOf: () => remote };
  return toJudgedSkill(skill, { skills, sourceOf: () => source });
}

function originOf({ label, url, provenanceOf }: RemoteOrigin, directory: string): PublishedOrigin {
  const { digest, commit } = provenanceOf(directory) ?? {};
  return {
    source: label,
    ...(url !== undefined && { url }),
    ...(digest !== undefined && commit !== undefined && { commit: { id: commit, digest } }),
  };
}

/** Creates the request of a skill, with the bytes of a digest, for what it needs. */
export function trustRequest(
  { skill, digest }: { readonly skill: Skill; readonly digest: string },
  caller: Pick<RunCaller, "skills" | "sourceOf" | "hashFiles" | "signatures">,
  { signal, ...rest }: Pick<FullTrustRequest, "needs" | "calledBy"> & { readonly signal: AbortSignal },
): FullTrustRequest {
  return {
    ...rest,
    skill: { ...toJudgedSkill(skill, caller), digest },
    wants: permissionsOf(skill),
    expects: skill.allowedTools,
    lookAlike: () => caller.skills.lookAlike(skill),
    signature: () => caller.signatures.of(caller.sourceOf(skill), skill, digest),
    async files() {
      const hashed = await caller.hashFiles(skill, signal).catch((error: unknown) => {
        // The skill was changed or deleted while its question was open.
        throw isSkillsError(error, "SKILL_NOT_READY") ? skillChanged(skill.name) : error;
      });
      if (hashed.digest !== digest) throw skillChanged(skill.name);
      const copies: CopiedFile[] = [];
      await runInSlices(copyTexts(skill, hashed.files, caller.sourceOf(skill), copies));
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
    const text = bytes && isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString() : undefined;
    if (text !== undefined) room -= size;
    copies.push({ path, sha256, ...(text !== undefined && { text }) });
    yield;
  }
}

const never = new AbortController().signal;

/**
 * Pins configured grants that name no digest to the bytes that a skill has when the process first sees it, however its files change later.
 * The returned function receives the skills of each call; it never rejects.
 */
export function createGrantPins(
  configured: ConfiguredGrants,
): (snapshot: Snapshot, caller: Pick<RunCaller, "hashFiles">) => Promise<void> {
  const seen = new WeakSet<Snapshot>();
  const pinned = new Set<string>();
  let pinning: Promise<void> = Promise.resolve();

  async function pin({ skills }: Snapshot, { hashFiles }: Pick<RunCaller, "hashFiles">): Promise<void> {
    for (const { isOwn = false, versions } of skills) {
      for (const skill of versions) {
        const { name, slug, directory } = skill;
        const found = { name, slug, directory, isOwn };
        if (pinned.has(directory) || !configured.concerns(found)) continue;
        pinned.add(directory);
        // A skill that cannot be read cannot be run either.
        const hashed = await hashFiles(skill, never).catch(() => undefined);
        if (hashed?.digest !== undefined) configured.pin(found, hashed.digest, permissionsOf(skill));
      }
    }
    configured.resolve();
  }

  return (snapshot, caller) => {
    if (!seen.has(snapshot)) {
      seen.add(snapshot);
      pinning = pinning.then(() => pin(snapshot, caller));
    }
    return pinning;
  };
}

/** The skills that cannot be used now, and why. */
export type Standings = ReadonlyMap<Skill, Exclude<Standing, "ready">>;

/** Finds the skills that cannot be used now, without asking the user. Rejects with the reason of `signal`. */
export async function findStandings(
  offered: readonly OfferedSkill[],
  options: {
    readonly trust: Pick<Trust, "standings">;
    readonly source: SkillSource;
    readonly hasher: Pick<SkillHasher, "hash">;
    /** Default: signatures by the trusted root of this package. */
    readonly signatures?: Pick<Signatures, "of">;
    readonly caller: TrustScope;
    readonly signal: AbortSignal;
  },
): Promise<Standings> {
  const { trust, source, hasher, signatures = openSignatures(), caller, signal } = options;
  const asked = offered.map((found) => ({
    skill: offeredToJudged(found, source),
    needs: permissionsOf(found.skill),
    hasCode: found.skill.kind === "action",
    digest: async () => (await hasher.hash(source, found.skill.directory, signal)).digest,
    signature: (digest: string) => signatures.of(source, found.skill, digest),
  }));
  const found = await trust.standings(asked, caller);
  return new Map(
    offered.flatMap(({ skill }, index) => {
      const standing = found[index] ?? "ready";
      return standing === "ready" ? [] : [[skill, standing]];
    }),
  );
}
