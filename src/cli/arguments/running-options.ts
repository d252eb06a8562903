import { resolve } from "node:path";
import type { SkillsOptions } from "../../options.ts";
import { parseGrant, permissionNames } from "../../trust/grants.ts";
import type { UsageFault } from "./parse-arguments.ts";

/** What a person says about code that may run. */
export interface RunningArguments {
  readonly grant?: readonly string[];
  readonly "secrets-file"?: string;
  readonly isolation?: NonNullable<SkillsOptions["isolation"]>;
}

/** The same as options; a grant that cannot be read is a usage fault, never one that is not there. */
export function toRunningOptions(
  { grant = [], "secrets-file": secretsFile, isolation }: RunningArguments,
  cwd: () => string,
): Pick<SkillsOptions, "grants" | "secretsFile" | "isolation"> | UsageFault {
  const unreadable = grant.find((text) => parseGrant(text) === undefined);
  if (unreadable !== undefined) {
    return { usageFault: `--grant needs NAME:PERMISSION[,…] with ${permissionNames.join(", ")}, not ${unreadable}` };
  }
  return {
    grants: grant,
    ...(secretsFile !== undefined && { secretsFile: resolve(cwd(), secretsFile) }),
    ...(isolation !== undefined && { isolation }),
  };
}
