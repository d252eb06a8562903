import type { ClusterRecords } from "../../../parts.ts";
import { counted } from "../../../base/text/code-points.ts";
import { parseNumber } from "../../arguments/values.ts";
import { type ExitCode, type OptionValues, exit, text, usageError } from "../../command.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { GivenWords } from "./callers.ts";

export const tokenOptions = {
  days: text("N", "tokens new: for how long it is valid. Default: until it is revoked."),
  overlap: text("HOURS", "tokens rotate: how long the tokens from before are valid. Default: 24."),
} as const;

/** `cluster tokens new NAME | rotate NAME | revoke NAME|DIGEST`. */
export async function runTokens(
  { callers }: Pick<ClusterRecords, "callers">,
  { words: [action, name, surplus], options: { days, overlap }, json }: GivenWords<OptionValues<typeof tokenOptions>>,
  terminal: Terminal,
): Promise<ExitCode> {
  if (name === undefined || surplus !== undefined || !["new", "rotate", "revoke"].includes(action ?? ""))
    throw usageError("use cluster tokens new NAME, tokens rotate NAME or tokens revoke NAME|DIGEST");
  if (action === "revoke") {
    const count = await callers.revoke(name);
    terminal.note(`revoked ${counted(count, "token")}; servers refuse what they were used for at once`);
    return exit.done;
  }
  const hours = parseNumber("--overlap", overlap ?? "24", [0, 8_760]);
  const until = days === undefined ? null : parseNumber("--days", days, [1, 36_500]);
  const token = await (action === "new" ? callers.newToken(name, until) : callers.rotate(name, hours));
  if (json) await terminal.printJson({ caller: name, token });
  else await terminal.print([`${token}\n`]);
  terminal.note(`the token of ${name} is shown this once only`);
  return exit.done;
}
