import { openRecords } from "../../../given-ports.ts";
import { counted } from "../../../base/text/code-points.ts";
import { parseNumber } from "../../arguments/values.ts";
import { exit, usageError } from "../../command.ts";
import type { ClusterAction } from "../cluster.ts";

/** `cluster tokens new NAME | rotate NAME | revoke NAME|DIGEST`. */
export const tokensAction: ClusterAction = async ({ words: [action, name], options }, settings, terminal) => {
  if (name === undefined || !["new", "rotate", "revoke"].includes(action ?? ""))
    throw usageError("use cluster tokens new NAME, tokens rotate NAME or tokens revoke NAME|DIGEST");
  const { days, overlap = "24", json } = options;
  const hours = parseNumber("--overlap", overlap, [0, 8_760]);
  const lifetime = days === undefined ? null : parseNumber("--days", days, [1, 36_500]);
  const records = await openRecords(settings);
  if (records === undefined) return exit.usage;
  const { callers } = records;
  try {
    if (action === "revoke") {
      terminal.note(`revoked ${counted(await callers.revoke(name), "token")}; servers refuse it at once`);
      return exit.done;
    }
    const token = await (action === "new" ? callers.newToken(name, lifetime) : callers.rotate(name, hours));
    if (json === true) await terminal.printJson({ caller: name, token });
    else await terminal.print([`${token}\n`]);
    terminal.note(`the token of ${name} is shown this once only`);
    return exit.done;
  } finally {
    await records.close();
  }
};
