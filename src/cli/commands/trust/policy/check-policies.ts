import path from "node:path";
import { type PolicyLayer, readPolicyText, toLayer } from "../../../../runtime/trust.ts";
import { policyFileName } from "../../../../wire/policy-file.ts";
import { policiesIn } from "../../../arguments/policies.ts";
import { directoryFault } from "../../../arguments/values.ts";
import { padToWidth } from "../../../report/columns.ts";
import { jsonText, safeText } from "../../../report/safe-text.ts";
import { saySeverities } from "../../../report/say-counts.ts";
import { shownPath } from "../../../../base/paths/location.ts";
import type { Terminal } from "../../../report/terminal.ts";
import { prettyProblem } from "../../../report/pretty.ts";

interface Checking {
  readonly cwd?: string;
  readonly json?: boolean;
}

/** Prints the problems of one file, or of the policies that count in a directory. */
export async function checkPolicies(
  file: string | undefined,
  { cwd: asked, json }: Checking,
  terminal: Terminal,
): Promise<number> {
  const { cwd, home } = terminal;
  const directory = path.resolve(cwd, asked ?? ".");
  const fault = asked === undefined ? [] : directoryFault("--cwd", directory);
  for (const sentence of fault) terminal.note(sentence);
  const layers =
    file === undefined
      ? policiesIn(directory, terminal)
      : [toLayer({ file: path.resolve(cwd, file), origin: "project" }, home)];
  if (json === true) await terminal.print(toJson(layers));
  else if (layers.length === 0) terminal.note(`no policy counts here; a project's is in ${policyFileName}`);
  else await terminal.print(toText(layers, terminal, file === undefined));
  return fault.length > 0 || layers.some(({ policy }) => policy === undefined) ? 1 : 0;
}

function* toJson(layers: readonly PolicyLayer[]): Iterable<string> {
  const files = layers.map(({ origin, file, policy }) => ({ origin, file, used: policy !== undefined }));
  yield `${jsonText({ files, problems: layers.flatMap(({ problems }) => problems) }, 2)}\n`;
}

/** Each problem with a code frame, then one line a file. */
function* toText(layers: readonly PolicyLayer[], terminal: Terminal, hasOrigins: boolean): Iterable<string> {
  const { cwd, paint } = terminal;
  for (const { file, origin, problems } of layers) {
    const found = problems.length === 0 ? undefined : readPolicyText(file, origin);
    const lines = found !== undefined && "text" in found ? found.text.split(/\r\n?|\n/) : [];
    const sourceLine = (_file: string, line: number): string | undefined => lines[line - 1];
    for (const problem of problems) yield prettyProblem(problem, { ...terminal, cwd, paint, sourceLine });
  }
  for (const { file, origin, policy, problems } of layers) {
    const label = hasOrigins ? `${padToWidth(origin, "configuration".length)}  ` : "";
    const count = problems.length === 0 ? paint("green", "no problems") : saySeverities(problems, paint);
    const unused = policy === undefined ? "; nothing beyond the sandbox is allowed where it counts" : "";
    yield `${label}${safeText(shownPath(file, cwd))}: ${count}${unused}\n`;
  }
}
