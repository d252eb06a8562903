import type { ClusterRecords } from "../../../parts.ts";
import { readPolicyText, toLayer } from "../../../runtime/trust.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { type ExitCode, exit, usageError } from "../../command.ts";
import { prettyProblem } from "../../report/problem-report.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { GivenWords } from "./callers.ts";

/** `cluster policy show | set FILE | remove`. */
export async function runPolicy(
  { policy }: Pick<ClusterRecords, "policy">,
  { words: [action, given, surplus], json }: Omit<GivenWords<unknown>, "options">,
  terminal: Terminal,
): Promise<ExitCode> {
  if (
    surplus !== undefined ||
    !["show", "set", "remove"].includes(action ?? "") ||
    (given !== undefined) !== (action === "set")
  )
    throw usageError("use cluster policy show, policy set FILE or policy remove");
  if (given !== undefined) {
    const file = toAbsolute(given);
    const read = readPolicyText(file, "configuration");
    if ("fault" in read) throw usageError(`${given}: ${read.fault}. ${read.fix}`);
    const layer = toLayer({ file, origin: "configuration" }, terminal.home);
    const lines = read.text.split(/\r\n?|\n/);
    const sourceLine = (_file: string, line: number): string | undefined => lines[line - 1];
    for (const problem of layer.problems) terminal.echo(prettyProblem(problem, { ...terminal, sourceLine }));
    if (layer.policy === undefined) {
      terminal.note("the policy has errors; the one from before stays in force");
      return exit.usage;
    }
    await policy.set(read.text);
    terminal.note("all servers, wrappers and workers of the cluster follow this policy now");
    return exit.done;
  }
  if (action === "remove") {
    terminal.note((await policy.remove()) ? "removed the policy of the cluster" : "the cluster has no policy");
    return exit.done;
  }
  const found = await policy.read();
  if (json) await terminal.printJson({ policy: found ?? null });
  else if (found === undefined) terminal.note("the cluster has no policy");
  else await terminal.print([found.text.replace(/\n?$/, "\n")]);
  return exit.done;
}
