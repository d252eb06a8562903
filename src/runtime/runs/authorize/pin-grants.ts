import type { Snapshot } from "../../../skills/skill.ts";
import type { ConfiguredGrants } from "../../trust/configured-grants.ts";
import type { RunCaller } from "../run-caller.ts";
import { needsOf } from "../../../skills/permissions.ts";

const never = new AbortController().signal;

/**
 * Grants of the configuration that name no digest are for the bytes that a skill has when the process first sees it, however its files
 * change later. The returned function receives the skills of each call; it never rejects.
 */
export function createGrantPins(
  configured: ConfiguredGrants,
): (snapshot: Snapshot, caller: Pick<RunCaller, "hashFiles">) => Promise<void> {
  const seen = new WeakSet<Snapshot>();
  const pinned = new Set<string>();
  let pinning: Promise<void> = Promise.resolve();

  async function pin({ skills }: Snapshot, { hashFiles }: Pick<RunCaller, "hashFiles">): Promise<void> {
    for (const { isOwn = false, versions } of skills) {
      for (const skill of versions) {
        const { name, slug, directory } = skill;
        const found = { name, slug, directory, isOwn };
        if (pinned.has(directory) || !configured.concerns(found)) continue;
        pinned.add(directory);
        // A skill that cannot be read cannot be run either.
        const hashed = await hashFiles(skill, never).catch(() => undefined);
        if (hashed?.digest !== undefined) configured.pin(found, hashed.digest, needsOf(skill));
      }
    }
    configured.settle();
  }

  return (snapshot, caller) => {
    if (!configured.isEmpty && !seen.has(snapshot)) {
      seen.add(snapshot);
      pinning = pinning.then(() => pin(snapshot, caller));
    }
    return pinning;
  };
}
