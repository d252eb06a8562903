import { directoryName } from "../remote/lock/lock.ts";
import type { Decided } from "./carry-out.ts";
import type { Latest, LookedUp } from "./find-updates.ts";
import { differenceWords } from "./installed-state.ts";
import type { Downloaded } from "./offered-skills.ts";
import { sameFiles } from "./plan-install.ts";

/** What updating an installed skill with what was downloaded means here. Changes nothing. */
export function planUpdate(
  { key, installed }: Pick<LookedUp, "key" | "installed">,
  { downloaded, index }: Extract<Latest, { downloaded: unknown }>,
  force: boolean,
): Decided | { readonly why: string } {
  const why = refusalOf({ key, installed }, downloaded, force);
  if (why !== undefined) return { why };
  const seen = installed.state === "missing" ? undefined : installed.installed;
  const act = seen === undefined ? "install" : sameFiles(seen, downloaded.files) ? "adopt" : "replace";
  return { act, key, index, downloaded, seen };
}

function refusalOf(
  { key, installed }: Pick<LookedUp, "key" | "installed">,
  { inspected, files }: Downloaded,
  force: boolean,
): string | undefined {
  if (inspected.slug !== directoryName(key))
    return `it is named ${inspected.slug} now; add that from its source, and remove ${key}`;
  if (force) return undefined;
  if (installed.state === "changed" && !sameFiles(installed.installed, files))
    return `it has local changes (${differenceWords(installed.difference, 5).join("; ")}); --force replaces it`;
  const isBroken = inspected.problems.some(({ severity }) => severity === "error");
  return isBroken ? "acp-skills check reports errors in the new version; --force installs it all the same" : undefined;
}
