import type { Log } from "../../base/log.ts";
import { noSuchSkill } from "../../skills/skill.ts";
import type { Catalog, CatalogReader } from "../../skills/skillset.ts";
import { parseGrant } from "../../wire/grant-text.ts";

/**
 * Lists the grants that allow nothing, and why: the name is misspelled, or the skill is not the user's own and the grant names no digest.
 * A path that is no skill counts as a project.
 */
export function idleGrants(
  grants: readonly string[],
  catalog: CatalogReader,
): readonly { readonly grant: string; readonly reason: string }[] {
  return grants.flatMap((grant) => {
    const parsed = parseGrant(grant);
    if (parsed?.form === "path") return [];
    const skill = parsed?.skill ?? grant;
    const offered = catalog.find(skill);
    if (offered === undefined) return [{ grant, reason: noSuchSkill(skill, catalog.snapshot) }];
    if (parsed?.form === "digest" || offered.isOwn === true) return [];
    const from = offered.remote === undefined ? "came with the project" : `is from ${offered.remote.label}`;
    return [{ grant, reason: `${skill} ${from}; ${remedy}` }];
  });
}

const remedy = "name its digest (NAME@DIGEST) or its directory, because names count only for your own skills";

/** Logs the grants that allow nothing, once the skills are known. */
export function logIdleGrants(
  grants: readonly string[],
  catalog: Pick<Catalog, "find" | "snapshot" | "ready">,
  log: Log,
): void {
  if (grants.length === 0) return;
  const report = (): void => {
    for (const { grant, reason } of idleGrants(grants, catalog))
      log("warning", `The grant ${grant} has no effect: ${reason}`);
  };
  // The catalog reports a disk that cannot be read.
  catalog.ready.then(report, () => undefined);
}
