import type { Snapshot } from "../../skills/skill.ts";
import { parseGrant } from "../../trust/grants.ts";
import { noSuchSkill } from "../../skills/no-such-skill.ts";
import type { UsageFault } from "./parse-arguments.ts";

/** A grant to a skill that is not there grants nothing: most often its name is misspelt. */
export function grantFault(
  grants: readonly string[] = [],
  catalog: { readonly find: (name: string) => unknown; readonly snapshot: Snapshot },
): UsageFault | undefined {
  for (const grant of grants) {
    const skill = parseGrant(grant)?.skill ?? grant;
    if (catalog.find(skill) === undefined)
      return { usageFault: `--grant ${grant}: ${noSuchSkill(skill, catalog.snapshot)}` };
  }
  return undefined;
}
