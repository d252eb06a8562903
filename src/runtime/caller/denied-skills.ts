import { readLicense } from "../../skills/licenses.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { Policy, PolicyRefusal } from "../trust/policy.ts";

/** With the reasons. */
export type DeniedSkills = ReadonlyMap<Skill, PolicyRefusal>;

const none: DeniedSkills = new Map();

const known = new WeakMap<Snapshot, { readonly policy: Policy; readonly denied: DeniedSkills }>();

/**
 * The versions of skills that a policy denies as such, which models do not see. Of licenses, only what skills state is considered; a skill
 * that states none is judged when it is used, by whether it has license files.
 */
export function deniedSkills(policy: Policy, snapshot: Snapshot): DeniedSkills {
  const { hides } = policy;
  if (hides === undefined) return none;
  const before = known.get(snapshot);
  if (before?.policy === policy) return before.denied;
  const denied = new Map<Skill, PolicyRefusal>();
  for (const { versions, sources, isOwn = false, remote } of snapshot.skills) {
    for (const skill of versions) {
      const { name, slug, directory, license } = skill;
      const subject = {
        name,
        slug,
        isOwn,
        source: sources[0] ?? directory,
        directory,
        origin: remote && { source: remote.label },
      };
      const refusal = hides(subject, license === undefined ? undefined : (readLicense(license) ?? "unknown"));
      if (refusal !== undefined) denied.set(skill, refusal);
    }
  }
  known.set(snapshot, { policy, denied });
  return denied;
}
