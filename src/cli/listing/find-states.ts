import { existsSync, statSync } from "node:fs";
import path from "node:path";
import type { Standings } from "../../runtime/runs.ts";
import { needsGrant, permissionsOf } from "../../skills/permissions.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import { organisationPolicy, policyFileName } from "../../wire/policy-file.ts";
import { givenPolicy } from "../arguments/values.ts";
import { dataDirectory } from "../data-directory.ts";
import type { Terminal } from "../report/terminal.ts";

const none: Standings = new Map();

/** The skills that cannot be used in a directory now. Where nothing could forbid one, what decides about that is not loaded. */
export async function findStates(
  skills: readonly OfferedSkill[],
  directory: string,
  terminal: Pick<Terminal, "home" | "log">,
): Promise<Standings> {
  const isWanting = skills.some(
    ({ skill, remote }) => needsGrant(permissionsOf(skill)) || (remote !== undefined && skill.kind === "action"),
  );
  const hasApprovals = existsSync(path.join(dataDirectory(terminal), "trust"));
  if (!isWanting && !hasApprovals && !mayHavePolicy(directory)) return none;
  const [{ openApp }, { localOwner }, { readOptions }, { findStandings }] = await Promise.all([
    import("../../runtime/app.ts"),
    import("../../runtime/caller.ts"),
    import("../../runtime/options.ts"),
    import("../../runtime/runs.ts"),
  ]);
  const app = openApp(readOptions({ log: terminal.log }, { home: terminal.home }));
  try {
    const { source, hasher } = app;
    const asker = { owner: localOwner, directory };
    const { signal } = new AbortController();
    return await findStandings(skills, { trust: await app.trust(), source, hasher, asker, signal });
  } finally {
    await app.close();
  }
}

/** True also where the policy turns out not to count: that of a directory above which belongs to no repository, or to another one. */
function mayHavePolicy(directory: string): boolean {
  if (givenPolicy() !== undefined || isThere(organisationPolicy())) return true;
  for (let place = directory; ; place = path.dirname(place)) {
    if (isThere(path.join(place, policyFileName))) return true;
    if (place === path.dirname(place)) return false;
  }
}

function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // Unreadable: what decides reports that.
  }
}
