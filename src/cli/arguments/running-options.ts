import { resolve } from "node:path";
import type { SkillsOptions } from "../../options.ts";
import { parseGrant, permissionNames } from "../../trust/grants.ts";
import { usageError } from "../command.ts";
import type { OptionValues } from "../command.ts";
import type { running } from "./shared-options.ts";

/** Converts the options for running code to settings. Throws INVALID_OPTIONS for a grant that cannot be parsed. */
export function toRunningOptions(
  { grant = [], "secrets-file": secretsFile, isolation }: OptionValues<typeof running>,
  cwd: () => string,
): Pick<SkillsOptions, "grants" | "secretsFile" | "isolation"> {
  const invalid = grant.find((text) => parseGrant(text) === undefined);
  if (invalid !== undefined)
    throw usageError(`--grant needs NAME:PERMISSION[,…] with ${permissionNames.join(", ")}, not ${invalid}`);
  return {
    grants: grant,
    ...(secretsFile !== undefined && { secretsFile: resolve(cwd(), secretsFile) }),
    ...(isolation !== undefined && { isolation }),
  };
}
