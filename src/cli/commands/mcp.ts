import { serveMcp } from "../../mcp/serve-mcp.ts";
import { whenParentGone } from "../../mcp/socket/when-parent-gone.ts";
import { logIdleGrants } from "../../runs/authorize/idle-grants.ts";
import { readOptions } from "../../options.ts";
import { logProblemsOf } from "../../skills/rules/log-problems.ts";
import { openSkillset } from "../../skillset.ts";
import { localOwner, openToolkit } from "../../toolkit.ts";
import { currentDirectory, toAbsolute } from "../arguments/current-directory.ts";
import { directoryFault } from "../arguments/directory-fault.ts";
import { openProcessLog } from "../open-log.ts";
import { onInterruption } from "../interruption.ts";
import { isUsageFault } from "../arguments/parse-arguments.ts";
import type { UsageFault } from "../arguments/parse-arguments.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import type { RunningArguments } from "../arguments/running-options.ts";

/** What the server is asked. */
export interface McpArguments extends RunningArguments {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
  readonly cwd?: string;
}

/** `acp-skills mcp`: serves one MCP client over stdio until it closes stdin. Its blobs are those of the person at this machine. */
export async function runMcp(given: McpArguments): Promise<number | UsageFault> {
  const { skills = [], "no-default-roots": isNarrow, cwd = "." } = given;
  const running = toRunningOptions(given, currentDirectory);
  if (isUsageFault(running)) return running;
  const directory = toAbsolute(cwd);
  const [fault] = given.cwd === undefined ? [] : directoryFault("--cwd", directory);
  if (fault !== undefined) return { usageFault: fault };
  const log = openProcessLog();
  const settings = readOptions({ log, defaultRoots: isNarrow !== true, skills: skills.map(toAbsolute), ...running });
  const skillset = openSkillset(settings);
  const toolkit = openToolkit(settings);
  const session = skillset.openSession({ cwd: directory });
  logProblemsOf(session, log);
  logIdleGrants(settings.grants, session.catalog, log);
  const { clock } = settings;
  const gone = new AbortController();
  const stopLooking = whenParentGone({ clock, parent: () => process.ppid }, () => {
    gone.abort();
  });
  const { signal, stop } = onInterruption();
  try {
    const streams = {
      input: process.stdin,
      output: process.stdout,
      clock,
      gone: AbortSignal.any([gone.signal, signal]),
    };
    const project = { project: directory, projectIdentity: session.identity };
    await serveMcp(toolkit, { owner: localOwner, skills: session.catalog, ...project }, streams);
  } finally {
    stopLooking();
    stop();
    await Promise.all([skillset.close(), toolkit.close()]);
  }
  return signal.aborted ? 130 : 0;
}
