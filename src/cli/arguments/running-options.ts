import { existsSync } from "node:fs";
import { refusePassword } from "./cluster-option.ts";
import { type SkillsOptions, idleGrants } from "../../runtime/options.ts";
import { grantText, parseGrant, permissionNames } from "../../wire/grant-text.ts";
import type { CatalogReader } from "../../skills/skillset.ts";
import { type OptionTable, type OptionValues, usageError, texts, text, choice } from "../command.ts";
import type { Log } from "../../base/log.ts";
import { type roots, trustedRoot } from "./shared-options.ts";
import { oneOf, toAbsolute } from "./values.ts";

/** Options for permissions and secrets, for every command that can run code. */
export const running = {
  grant: texts(
    "NAME@DIGEST|PATH",
    "Where there is nobody to ask: allow all that exactly this skill requests, or let models read the skills of the project PATH. Repeatable.",
  ),
  "secrets-file": text("FILE", "Read secrets that are not in the environment from FILE (NAME=value lines)."),
  "trusted-root": trustedRoot,
  cluster: text(
    "URL",
    "Share runs, blobs, approvals and the ledger in the PostgreSQL database at URL; its workers run code.",
  ),
  isolation: choice(
    ["auto", "bubblewrap", "landlock", "seatbelt", "pyodide"],
    "What isolates code. Default: auto, the best that is available.",
  ),
} as const satisfies OptionTable;

/** Converts the options for running code to settings. Throws INVALID_OPTIONS for a grant that cannot be parsed. */
export function toRunningOptions({
  grant = [],
  "secrets-file": secretsFile,
  "trusted-root": root,
  cluster,
  isolation,
}: OptionValues<typeof running>): Pick<
  SkillsOptions,
  "grants" | "secretsFile" | "trustedRoot" | "cluster" | "isolation"
> {
  if (cluster !== undefined) refusePassword(cluster);
  for (const text of grant) {
    const parsed = parseGrant(grantText(text));
    if (parsed === undefined)
      throw usageError(
        `--grant needs NAME@DIGEST, NAME:PERMISSION[,…] (${oneOf(permissionNames)}) or the path of a directory, not ${text}`,
      );
    if (parsed.form === "path" && !existsSync(parsed.path)) throw usageError(`--grant ${text}: no such directory`);
  }
  return {
    grants: grant,
    ...(secretsFile !== undefined && { secretsFile: toAbsolute(secretsFile) }),
    ...(root !== undefined && { trustedRoot: toAbsolute(root) }),
    ...(cluster !== undefined && { cluster }),
    ...(isolation !== undefined && { isolation }),
  };
}

/** The options of a command that offers skills and runs their code, as settings. Throws INVALID_OPTIONS. */
export function toSkillsOptions(given: OptionValues<typeof running & typeof roots>, log: Log): SkillsOptions {
  const { skills, source, "allow-private": allowPrivate, "no-default-roots": isNarrow } = given;
  return {
    log,
    ...toRunningOptions(given),
    defaultRoots: isNarrow !== true,
    ...(skills !== undefined && { directories: skills.map(toAbsolute) }),
    ...(source !== undefined && { sources: source }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  };
}

/** Throws INVALID_OPTIONS for a grant that allows nothing, because its name is misspelt or belongs to a skill of the project. */
export function refuseIdleGrants(grants: readonly string[] = [], catalog: CatalogReader): void {
  for (const grant of grants) {
    const [idle] = idleGrants([grantText(grant)], catalog);
    if (idle !== undefined) throw usageError(`--grant ${grant}: ${idle.reason}`);
  }
}
