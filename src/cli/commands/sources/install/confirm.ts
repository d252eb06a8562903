import type { Question } from "../../../../runtime/question.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Terminal } from "../../../report/terminal.ts";

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
