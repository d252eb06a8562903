import type { ClusterRecords } from "../../../parts.ts";
import { type ExitCode, type OptionValues, exit, texts, usageError } from "../../command.ts";
import { safeText } from "../../report/safe-text.ts";
import { table } from "../../report/table.ts";
import type { Terminal } from "../../report/terminal.ts";
import { counted } from "../../../base/text/code-points.ts";

export const callerOptions = {
  skills: texts("PATTERN", "callers add: what it sees. Default: all skills. Repeatable."),
  tools: texts("TOOL", "callers add: what it may call. Default: all tools. Repeatable."),
  grant: texts("GRANT", "callers add: NAME@DIGEST[:PERMISSION,…] for runs of this caller. Repeatable."),
  secret: texts("NAME", "callers add: a secret that its runs may get. Repeatable."),
} as const;

export interface GivenWords<Options> {
  /** What follows the name of the subcommand. */
  readonly words: readonly string[];
  readonly options: Options;
  readonly json: boolean;
}

/** `cluster callers list | add NAME | remove NAME`. */
export async function runCallers(
  { callers }: Pick<ClusterRecords, "callers">,
  { words: [action, name, surplus], options, json }: GivenWords<OptionValues<typeof callerOptions>>,
  terminal: Terminal,
): Promise<ExitCode> {
  if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
  if (action === "list" && name === undefined) {
    const all = await callers.list();
    const rows = all.map(({ name: who, settings, tokens }) => [
      who,
      counted(tokens.filter(({ isExpired }) => !isExpired).length, "token"),
      safeText(JSON.stringify(settings)),
    ]);
    if (json) await terminal.printJson({ callers: all });
    else if (all.length === 0) terminal.note("the cluster has no callers; acp-skills cluster callers add NAME");
    else await terminal.print(table(["NAME", "VALID", "MAY"], rows, terminal));
    return exit.done;
  }
  if (name === undefined || (action !== "add" && action !== "remove"))
    throw usageError("use cluster callers list, callers add NAME or callers remove NAME");
  if (action === "remove") {
    await callers.remove(name);
    terminal.note(`removed ${name}; its tokens are refused from now on`);
    return exit.done;
  }
  const { skills, tools, grant: grants, secret: secrets } = options;
  const isNew = await callers.add(name, {
    ...(skills && { skills }),
    ...(tools && { tools }),
    ...(grants && { grants }),
    ...(secrets && { secrets }),
  });
  terminal.note(isNew ? `added ${name}; acp-skills cluster tokens new ${name} gives it a token` : `changed ${name}`);
  return exit.done;
}
