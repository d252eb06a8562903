import { openProblemLog } from "../acp/log-problems.ts";
import { serveMcp } from "../mcp/serve-mcp.ts";
import { readOptions } from "../options.ts";
import { openSkillset } from "../skillset.ts";
import { localOwner, openToolkit } from "../toolkit.ts";
import { toAbsolute } from "./current-directory.ts";
import { directoryFault } from "./directory-fault.ts";
import { openStderrLog } from "./open-log.ts";

/** What the server is asked. */
export interface McpArguments {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
  readonly cwd?: string;
}

/**
 * `acp-skills mcp`: serves one MCP client over stdio until it closes stdin. Its blobs are those of the person at this machine. What
 * cannot be looked into, and what is wrong with skills, is told on stderr.
 */
export async function runMcp({ skills = [], "no-default-roots": isNarrow, cwd }: McpArguments): Promise<number> {
  const log = openStderrLog();
  const project = toAbsolute(cwd ?? ".");
  for (const fault of cwd === undefined ? [] : directoryFault("--cwd", project)) log("warning", fault);
  const settings = readOptions({ log, defaultRoots: isNarrow !== true, skills: skills.map(toAbsolute) });
  const skillset = openSkillset(settings);
  const toolkit = openToolkit(settings);
  const { catalog, problems } = skillset.openSession({ cwd: project });
  for (const problem of problems) log("warning", problem);
  const logProblems = openProblemLog(log);
  const tell = (): void => {
    logProblems(catalog.snapshot.problems);
  };
  const stop = catalog.onChange(tell);
  void catalog.ready.then(tell);
  try {
    const streams = { input: process.stdin, output: process.stdout };
    await serveMcp(toolkit, { owner: localOwner, skills: catalog }, streams);
  } finally {
    stop();
    await Promise.all([skillset.close(), toolkit.close()]);
  }
  return 0;
}
