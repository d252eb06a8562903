import { noSuchSkill } from "../../skills/no-such-skill.ts";
import type { Snapshot } from "../../skills/skill.ts";
import { parseGrant } from "../../trust/grants.ts";
import { usageError } from "../command.ts";

/** Throws INVALID_OPTIONS for a grant to a skill that does not exist: most often its name is misspelt. */
export function refuseUnknownGrants(
  grants: readonly string[] = [],
  catalog: { readonly find: (name: string) => unknown; readonly snapshot: Snapshot },
): void {
  for (const grant of grants) {
    const skill = parseGrant(grant)?.skill ?? grant;
    if (catalog.find(skill) === undefined)
      throw usageError(`--grant ${grant}: ${noSuchSkill(skill, catalog.snapshot)}`);
  }
}
