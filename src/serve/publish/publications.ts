import type { App } from "../../runtime/app.ts";
import type { Snapshot } from "../../skills/skill.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { visibleTo } from "../../runtime/caller.ts";
import type { Policy } from "../../runtime/trust.ts";
import type { ServeConfig } from "../config.ts";
import { type Publication, toPublication } from "./publication.ts";

/** Looking for changed policies reads the disk, which a request must not wait for; runs are authorized by the policy of that moment. */
const policyEveryMs = 100;

/** What is published now: the skills that there are, without those that a policy denies. The same object until that changes. */
export function createPublications(
  { policyFor, clock }: Pick<App, "policyFor" | "clock">,
  { catalog }: Pick<SessionSkills, "catalog">,
  config: ServeConfig,
): () => Publication {
  let of: { readonly snapshot: Snapshot; readonly policy: Policy } | undefined;
  let publication: Publication | undefined;
  let policy = policyFor(undefined);
  let lookedAt = clock.now();
  return () => {
    const { snapshot } = catalog;
    if (clock.now() - lookedAt > policyEveryMs) {
      policy = policyFor(undefined);
      lookedAt = clock.now();
    }
    if (publication !== undefined && of?.snapshot === snapshot && of.policy === policy) return publication;
    of = { snapshot, policy };
    const isVisible = visibleTo("http", snapshot, { visible: undefined, policy });
    const skills = snapshot.skills.filter(({ skill }) => isVisible?.(skill) !== false);
    return (publication = toPublication({ skills }, config));
  };
}
