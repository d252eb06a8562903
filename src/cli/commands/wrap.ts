import { closeSync } from "node:fs";
import { exitAs } from "../../acp/process/exit-as.ts";
import { wrapCommand } from "../../acp/process/wrap-command.ts";
import type { Log } from "../../base/log.ts";
import type { EmitForm, SkillsOptions, ToolForm } from "../../options.ts";
import { currentDirectory, toAbsolute } from "../arguments/current-directory.ts";
import { openFileLog, openProcessLog } from "../open-log.ts";
import { isUsageFault } from "../arguments/parse-arguments.ts";
import type { UsageFault } from "../arguments/parse-arguments.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import type { RunningArguments } from "../arguments/running-options.ts";
import { keepHeapsFlat } from "../small-heap.ts";

/** What the wrapper is asked. */
export interface WrapArguments extends RunningArguments {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
  readonly log?: string;
  readonly emit?: EmitForm;
  readonly tools?: ToolForm;
  readonly "no-teach"?: boolean;
  readonly "no-approve"?: boolean;
}

/** `acp-skills -- AGENT`: ends this process as the agent ended. Returns 2 where the log cannot be opened, before anything is started. */
export async function runWrap(
  command: string,
  args: readonly string[],
  given: WrapArguments,
): Promise<number | UsageFault> {
  keepHeapsFlat();
  const running = toRunningOptions(given, currentDirectory);
  if (isUsageFault(running)) return running;
  const stderr = openProcessLog();
  let log: Log = stderr;
  if (given.log !== undefined) {
    try {
      log = openFileLog(given.log, stderr, () => new Date());
    } catch (error) {
      stderr("error", `--log ${given.log} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
      return 2;
    }
  }
  const options: SkillsOptions = {
    log,
    ...running,
    defaultRoots: given["no-default-roots"] !== true,
    ...(given.skills !== undefined && { skills: given.skills.map(toAbsolute) }),
    ...(given.emit !== undefined && { emit: given.emit }),
    ...(given.tools !== undefined && { tools: given.tools }),
    teach: given["no-teach"] !== true,
    approveReadOnly: given["no-approve"] !== true,
  };
  // While last words are awaited, only timers of the clock may be left, which do not keep the process alive; this does.
  setInterval(() => undefined, 2 ** 30);
  const status = await wrapCommand({
    command,
    args,
    input: process.stdin,
    output: process.stdout,
    // Node never closes its stdout, whatever is said to the stream.
    endOutput: () => {
      closeSync(1);
    },
    options,
  });
  exitAs(status);
  process.exit();
}
