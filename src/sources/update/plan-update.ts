import type { UpdateDiff } from "./compare-update.ts";
import type { Latest, UpdateLookup } from "../update.ts";
import { lossWords } from "../installed.ts";
import { sameFiles } from "../install/plan-install.ts";
import type { ConfirmedInstall } from "../install.ts";

/** What updating an installed skill with what was downloaded means here. Changes nothing. */
export function planUpdate(
  { key, installed }: Pick<UpdateLookup, "key" | "installed">,
  { downloaded, index }: Extract<Latest, { downloaded: unknown }>,
  { renamed, discardsChanges }: Pick<UpdateDiff, "renamed"> & { readonly discardsChanges: boolean },
): ConfirmedInstall | { readonly why: string } {
  const { files } = downloaded;
  if (renamed !== undefined)
    return { why: `its own files name it ${renamed} now; add that from its source, and remove ${key}` };
  const seen = installed.state === "missing" ? undefined : installed.installed;
  const act = seen === undefined ? "install" : sameFiles(seen, files) ? "adopt" : "replace";
  const loss = act !== "replace" || discardsChanges ? undefined : lossWords(installed, "replaces");
  if (loss !== undefined) return { why: loss };
  return { act, key, index, downloaded, seen };
}
