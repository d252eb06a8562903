import type { Capabilities } from "../../skills/permissions.ts";
import type { Signature } from "../../skills/signature.ts";
import type { Reach, JudgedSkill, UnhashedSkill } from "./grants.ts";
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
export type NamedSkill = Pick<JudgedSkill, "name" | "slug" | "isOwn" | "source" | "directory" | "origin">;

/** The merged policies of the organisation, the configuration and the project: of two rules the stricter one counts. */
export interface Policy {
  /** Whether a run that needs nothing beyond its sandbox also needs a grant. */
  readonly runs: "sandbox" | "ask";
  /** Whether models may read the instructions of skills of a project that nobody has trusted. */
  readonly reads: "ask" | "allow";
  /** The widest approval that the user may give; "none": only this policy approves. */
  readonly approvals: "none" | Reach;
  /** Whether the user may be asked. */
  readonly prompts: boolean;
  /** Whether the inner agent's permission requests for the tools of acp-skills may be answered for the user. */
  readonly answers: boolean;
  /** How many days old a version of a skill must be before an update takes it. */
  readonly minimumAge: number;
  /** Whether the worktrees of a repository are one project. */
  readonly worktrees: "shared" | "separate";
  /** Why no code may run at all, of skills or of models; undefined if it may. */
  readonly code: PolicyRefusal | undefined;
  /**
   * The refusal of the rule that denies this; undefined if none does. With `noCapabilities`, only rules about the skill as such count:
   * models do not see a skill that they deny.
   */
  denies(skill: UnhashedSkill, wants: Capabilities): PolicyRefusal | undefined;
  /**
   * Why models do not see a skill: its name, its source or its stated license (an SPDX expression, or `unknown`) is denied. Absent if no
   * skill can be denied as such.
   */
  readonly hides: ((skill: NamedSkill, license: string | undefined) => PolicyRefusal | undefined) | undefined;
  /** Why nothing may be read from a URL, for skills that are not installed yet; undefined if it may. */
  deniesSource(url: string): PolicyRefusal | undefined;
  /**
   * Why the signer of a skill is not accepted. The skill is on this machine, or about to be installed from a URL. `signature` is called
   * only if a signer is demanded. Absent if no policy demands one.
   */
  readonly deniesSigner:
    ((skill: SignedSkill, signature: () => Promise<Signature>) => Promise<PolicyRefusal | undefined>) | undefined;
  /** Why skills with a license are denied: an SPDX expression, `unknown`, or `unspecified`. Undefined if they are not. */
  deniesLicense(license: string): PolicyRefusal | undefined;
  /** The capabilities that the policy grants to this version, and the first rule that grants any, with its file; undefined if none. */
  readonly grants: (
    skill: JudgedSkill,
  ) => { readonly capabilities: Capabilities; readonly file: string; readonly rule: string } | undefined;
}

export interface PolicyRefusal {
  /** A sentence: `The policy of your organisation (FILE) denies the host example.com.` */
  readonly why: string;
  readonly hint: string;
}
