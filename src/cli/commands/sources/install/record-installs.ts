import { type LedgerEntry, localLedger } from "../../../../runtime/ledger.ts";
import type { SkillsPlace } from "../../../../sources/skills-place.ts";
import { dataDirectory } from "../../../data-directory.ts";
import type { Terminal } from "../../../report/terminal.ts";

/** A change of an installed skill. */
export interface RecordedInstall extends Pick<LedgerEntry, "skill" | "about"> {
  readonly event: "add" | "update" | "remove";
  readonly version?: string | undefined;
  readonly digest?: string | undefined;
}

/** Records changes of installed skills before they are made: one that is killed may leave a row too many, and never a change without one. */
export function recordInstalls(
  { form, base }: SkillsPlace,
  installs: readonly RecordedInstall[],
  terminal: Pick<Terminal, "home" | "log">,
): void {
  const ledger = localLedger(dataDirectory(terminal), terminal);
  const place = form === "project" ? { project: base } : {};
  for (const { version, digest, ...install } of installs) {
    const facts = { ...(version !== undefined && { version }), ...(digest !== undefined && { digest }) };
    ledger.record({ at: Date.now(), tool: "skills", ...place, ...install, ...facts, door: "cli" });
  }
  ledger.close();
}
