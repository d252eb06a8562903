import type { DirectoryIdentity } from "../../base/paths/directory-identity.ts";
import type { BlobStore } from "../blobs.ts";
import type { SkillSource } from "../../skills/files.ts";
import type { HashedSkill } from "../../skills/hash.ts";
import type { RemoteOrigin } from "../../skills/skillset.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Ask } from "../question.ts";
import type { ConfiguredGrants } from "../trust/configured-grants.ts";
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
  ownPlaces(): readonly string[];
}

/** Who requests a run, and what of theirs it may use. */
export interface RunCaller {
  readonly owner: string;
  /** The configured name of a caller from elsewhere, or `anonymous`. Absent: this machine's user. */
  readonly caller?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly door: string;
  /** What people know the caller by, such as the agent's name. */
  readonly label?: string | undefined;
  readonly blobs: BlobStore;
  /** How much one run may store as blobs. */
  readonly limits: { readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number } };
  readonly skills: CallerSkills;
  readonly sourceOf: (skill: Skill) => SkillSource;
  /** Reads nothing of a skill that is too large to be mounted. */
  readonly hashFiles: (skill: Skill, signal: AbortSignal) => Promise<HashedSkill>;
  /** The session's directory. */
  readonly project?: string | undefined;
  /** Which directory that was when the session was opened. Absent: whichever it is now. */
  readonly projectIdentity?: DirectoryIdentity | undefined;
  readonly onEvent?: RunListener | undefined;
  /** How a person can be asked. Absent: there is nobody. */
  readonly ask?: Ask | undefined;
  /** What a remote caller was granted: instead of the approvals of this machine's user. */
  readonly grants?: ConfiguredGrants | undefined;
  /** Names of the secrets that its runs may get. Absent: all that this machine has. */
  readonly secrets?: readonly string[] | undefined;
}
