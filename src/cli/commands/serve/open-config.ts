import { defaultConfig } from "../../../serve/config/default-config.ts";
import type { ServeConfig } from "../../../serve/config/serve-config.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { counted } from "../../../base/text/counted.ts";
import { safeText } from "../../report/safe-text.ts";
import { shownPath } from "../../../base/paths/shown-path.ts";
import type { Terminal } from "../../report/terminal.ts";
import { prettyProblem } from "../authoring/check/pretty.ts";

export interface OpenedConfig {
  readonly config: ServeConfig;
  /** Absolute directories of skills. */
  readonly skills: readonly string[];
}

/** The configuration of a file, or the default without one. Undefined if it has errors, which are printed with code frames on stderr. */
export async function loadServeConfig(
  given: string | undefined,
  terminal: Terminal,
): Promise<OpenedConfig | undefined> {
  if (given === undefined) return { config: defaultConfig, skills: [] };
  const file = toAbsolute(given);
  const { readConfigFile } = await import("../../../serve/config/read-config.ts");
  const { config, skills, problems, sourceLine } = readConfigFile(file, process.env);
  const { cwd, paint, columns } = terminal;
  for (const problem of problems)
    terminal.echo(prettyProblem(problem, { cwd, paint, columns, sourceLine: (_file, line) => sourceLine(line) }));
  if (config !== undefined) return { config, skills };
  terminal.tell(`${safeText(shownPath(file, cwd))} has ${counted(problems.length, "error")}; nothing is served`);
  return undefined;
}
