import { openRecords } from "../../../given-ports.ts";
import { readPolicyText, toLayer } from "../../../runtime/trust.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { exit, usageError } from "../../command.ts";
import { prettyProblem } from "../../report/problem-report.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { ClusterAction } from "../cluster.ts";

/** `cluster policy show | set FILE | remove`. */
export const policyAction: ClusterAction = async ({ words: [action, file], options }, settings, terminal) => {
  if (!["show", "set", "remove"].includes(action ?? "") || (file === undefined) === (action === "set"))
    throw usageError("use cluster policy show, policy set FILE or policy remove");
  const text = file === undefined ? undefined : checkedPolicy(file, terminal);
  const records = await openRecords(settings);
  if (records === undefined) return exit.usage;
  const { policy } = records;
  try {
    if (text !== undefined) {
      await policy.set(text);
      terminal.note("all servers, wrappers and workers of the cluster follow this policy now");
    } else if (action === "remove")
      terminal.note((await policy.remove()) ? "removed the policy of the cluster" : "the cluster has no policy");
    else {
      const found = await policy.read();
      if (options.json === true) await terminal.printJson({ policy: found ?? null });
      else if (found === undefined) terminal.note("the cluster has no policy");
      else await terminal.print([found.text.replace(/\n?$/, "\n")]);
    }
    return exit.done;
  } finally {
    await records.close();
  }
};

/** Reads the text of a policy file, and prints its problems. Throws INVALID_OPTIONS if the file has errors. */
function checkedPolicy(given: string, terminal: Terminal): string {
  const file = toAbsolute(given);
  const read = readPolicyText(file, "configuration");
  if ("fault" in read) throw usageError(`${given}: ${read.fault}. ${read.fix}`);
  const { policy, problems } = toLayer({ file, origin: "configuration" }, terminal.home);
  const lines = read.text.split(/\r\n?|\n/);
  const sourceLine = (_file: string, line: number): string | undefined => lines[line - 1];
  for (const problem of problems) terminal.echo(prettyProblem(problem, { ...terminal, sourceLine }));
  if (policy === undefined) throw usageError(`${given} has errors; the policy from before stays in force`);
  return read.text;
}
