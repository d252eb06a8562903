import type { Question } from "../../../../runtime/question.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Terminal } from "../../../report/terminal.ts";
import { type LedgerEntry, localLedger } from "../../../../runtime/ledger.ts";
import type { SkillsPlace } from "../../../../sources/skills-place.ts";
import { dataDirectory } from "../../../data-directory.ts";

/**
 * Whether the person wants it: `--yes` says so; else the person at the terminal is asked. Where nobody can be asked the answer is no, and
 * `--yes` is named.
 */
export async function confirm(
  title: string,
  label: string,
  {
    yes,
    terminal,
    signal,
  }: { readonly yes: boolean | undefined; readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<boolean> {
  if (yes === true) return true;
  const { ask } = terminal;
  if (ask === undefined) {
    terminal.note(`${title} Nobody can be asked here: add --yes. Nothing was changed.`);
    return false;
  }
  const options: Question["options"] = [
    { answer: "once", label, kind: "allow_once" },
    { answer: "not-now", label: "Change nothing", kind: "reject_once" },
  ];
  const { answer } = await ask(
    { about: "run", title: safeText(title), options, wants: [], widened: [], changed: [] },
    signal,
  );
  return answer === "once";
}

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
