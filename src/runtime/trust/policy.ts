import type { Capabilities } from "../../skills/permissions.ts";
import type { Signature } from "../../skills/signature.ts";
import type { Reach, Subject } from "./grants.ts";
import type { SignedSkill } from "./policy/signer-demands.ts";

export {
  type DeniedSkills,
  type Policies,
  type SharedPolicy,
  createPolicies,
  deniedSkills,
  readPolicyText,
  toLayer,
} from "./policy/open-policies.ts";
export type { PolicyLayer } from "./policy/layers.ts";
export { type PolicyDecision, explainPolicies } from "./policy/explain-policy.ts";

/** A skill as such, whatever its files are. */
export type NamedSkill = Pick<Subject, "name" | "slug" | "isOwn" | "source" | "directory" | "origin">;

/** What an organisation and a project decided beforehand, merged: of two rules the stricter one counts. */
export interface Policy {
  /** Whether a run that needs nothing beyond its sandbox needs a grant, too. */
  readonly runs: "sandbox" | "ask";
  /** Whether models may read the instructions of skills of a project that nobody has trusted. */
  readonly reads: "ask" | "allow";
  /** The widest approval that a person may give; "none": only this policy approves. */
  readonly approvals: "none" | Reach;
  /** Whether people may be asked. */
  readonly prompts: boolean;
  /** Whether the inner agent's permission requests for our tools may be answered for the user. */
  readonly answers: boolean;
  /** How many days old a version of a skill must be before an update takes it. */
  readonly minimumAge: number;
  /** Whether the worktrees of a repository are one project. */
  readonly worktrees: "shared" | "separate";
  /** Why no code may run at all, of skills or of models; undefined if it may. */
  readonly code: PolicyRefusal | undefined;
  /**
   * Which rule denies this, and what a person can do; undefined if none does. With `noCapabilities`, whether the skill as such is denied:
   * models do not see such a skill.
   */
  denies(subject: Omit<Subject, "digest">, wants: Capabilities): PolicyRefusal | undefined;
  /**
   * Why models do not see a skill: it is denied as such, by its name, source, or the license that it states (an SPDX expression, or
   * `unknown`). Absent if no skill can be.
   */
  readonly hides: ((skill: NamedSkill, license: string | undefined) => PolicyRefusal | undefined) | undefined;
  /** Whether nothing may be read from a URL, and why; for what is not installed yet. */
  deniesSource(url: string): PolicyRefusal | undefined;
  /**
   * Why who signed a skill does not do, here or where it is about to be installed from a URL. `signature` is called only where a signer is
   * demanded. Absent if none is.
   */
  readonly deniesSigner:
    ((skill: SignedSkill, signature: () => Promise<Signature>) => Promise<PolicyRefusal | undefined>) | undefined;
  /** Whether skills with a license are denied: an SPDX expression, `unknown`, or `unspecified`. */
  deniesLicense(license: string): PolicyRefusal | undefined;
  /** What the policy grants to this version, and by which rule of which file; undefined if nothing. */
  readonly grants: (
    subject: Subject,
  ) => { readonly capabilities: Capabilities; readonly file: string; readonly rule: string } | undefined;
}

export interface PolicyRefusal {
  /** A sentence: `The policy of your organisation (FILE) denies the host example.com.` */
  readonly why: string;
  readonly hint: string;
}
