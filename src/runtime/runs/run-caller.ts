import type { DirectoryIdentity } from "../../base/paths/identity.ts";
import type { BlobStore } from "../blobs.ts";
import type { SkillSource } from "../../skills/files.ts";
import type { HashedSkill } from "../../skills/hash.ts";
import type { RemoteOrigin } from "../../skills/skillset.ts";
import type { Signatures } from "../../skills/signature.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Asker } from "../trust.ts";
import type { RunListener } from "../../wire/run-event.ts";

/** The skills that a caller sees. */
export interface CallerSkills {
  /** By canonical name or slug. Throws SKILL_NOT_FOUND or VERSION_NOT_FOUND. */
  find(nameOrSlug: string, version?: string): { readonly skill: Skill; readonly versions: readonly Skill[] };
  /** Every version of every skill. */
  all(): Iterable<Skill>;
  /** Whether a skill is from the user's own roots: grants apply to no others. */
  isOwn(skill: Skill): boolean;
  /** The directory of skills under which it was found. */
  rootOf(skill: Skill): string;
  /** Where it was published; undefined for skills of this machine and its projects. */
  remoteOf(skill: Skill): RemoteOrigin | undefined;
  /** Another skill whose name looks the same as this one's. */
  lookAlike(skill: Skill): string | undefined;
  /** The directories of the user's own skills, and those searched for them. No run changes anything there. */
  ownDirectories(): readonly string[];
}

/** Who calls, as trust knows it, and what else of theirs a run may use. */
export interface Requester extends Omit<Asker, "directory"> {
  /** What people know the caller by, such as the agent's name. */
  readonly label?: string | undefined;
  /** The session's directory: what a skill with permission for the project works on. */
  readonly project?: string | undefined;
  /** Which directory that was when the session was opened. Absent: whichever it is now. */
  readonly projectIdentity?: DirectoryIdentity | undefined;
  /** Gets the events of the caller's runs. */
  readonly onEvent?: RunListener | undefined;
  /** Names of the secrets that its runs may get. Absent: all that this machine has. */
  readonly secrets?: readonly string[] | undefined;
}

/** Who requests a run. */
export interface RunCaller extends Requester {
  readonly blobs: BlobStore;
  /** How much one run may store as blobs. */
  readonly limits: { readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number } };
  readonly skills: CallerSkills;
  readonly sourceOf: (skill: Skill) => SkillSource;
  readonly signatures: Pick<Signatures, "of">;
  /** Reads nothing of a skill that is too large to be mounted. */
  readonly hashFiles: (skill: Skill, signal: AbortSignal) => Promise<HashedSkill>;
}
