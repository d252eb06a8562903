import type { DirectoryIdentity } from "../../base/paths/identity.ts";
import type { BlobStore } from "../blobs.ts";
import type { SkillSource } from "../../skills/files.ts";
import type { HashedSkill } from "../../skills/hash.ts";
import type { RemoteOrigin } from "../../skills/skillset.ts";
import type { Signatures } from "../../skills/signature.ts";
import type { Skill } from "../../skills/skill.ts";
import type { TrustCaller } from "../trust.ts";
import type { RunListener } from "../../wire/run-event.ts";

/** The skills that a caller sees. */
export interface CallerSkills {
  /** Finds a skill by canonical name or slug. Throws SKILL_NOT_FOUND or VERSION_NOT_FOUND. */
  find(nameOrSlug: string, version?: string): { readonly skill: Skill; readonly versions: readonly Skill[] };
  /** Every version of every skill. */
  all(): Iterable<Skill>;
  /** Whether a skill is from the user's own roots: grants by name apply to no other skills. */
  isOwn(skill: Skill): boolean;
  /** The root directory in which the skill was found. */
  rootOf(skill: Skill): string;
  /** The source that published the skill; undefined for skills of this machine and its projects. */
  remoteOf(skill: Skill): RemoteOrigin | undefined;
  /** The name of another skill that looks the same as this skill's name. */
  lookAlike(skill: Skill): string | undefined;
  /** The directories of the user's own skills, and those that are searched for them. No run changes anything in them. */
  ownDirectories(): readonly string[];
}

/** A caller as trust knows it, with the project, the secrets and the listener of its runs. */
export interface Requester extends Omit<TrustCaller, "directory"> {
  /** The name by which the user knows the caller, such as the agent's name. */
  readonly label?: string | undefined;
  /** The session's directory, on which a skill with permission for the project works. */
  readonly project?: string | undefined;
  /** The identity of `project` when the session was opened. Absent: the directory at that path now. */
  readonly projectIdentity?: DirectoryIdentity | undefined;
  /** Receives the events of the caller's runs. */
  readonly onEvent?: RunListener | undefined;
  /** The names of the secrets that the caller's runs may use. Absent: all secrets of this machine. */
  readonly secrets?: readonly string[] | undefined;
}

/** A caller that requests runs, with the blobs and skills that they may use. */
export interface RunCaller extends Requester {
  readonly blobs: BlobStore;
  /** The maximum bytes and number of blobs that one run may store. */
  readonly limits: { readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number } };
  readonly skills: CallerSkills;
  readonly sourceOf: (skill: Skill) => SkillSource;
  readonly signatures: Pick<Signatures, "of">;
  /** Hashes the files of a skill; reads none of a skill that is too large to be mounted. */
  readonly hashFiles: (skill: Skill, signal: AbortSignal) => Promise<HashedSkill>;
}

/** The readers of the files of a caller's skills. */
export type SkillSources = Pick<RunCaller, "sourceOf">;
