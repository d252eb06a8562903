import { systemClock } from "../../../base/clock.ts";
import { diskSkillFiles } from "../../../skills/files/disk-skill-files.ts";
import type { Level } from "../../../skills/rules/rules.ts";
import { version } from "../../../base/version.ts";
import type { Reporter } from "./check-report.ts";
import { runCheckOnce } from "./run-check.ts";
import type { CheckOutcome } from "./run-check.ts";
import { sayCounts } from "../../report/say-counts.ts";
import { openSourceLines } from "../../report/source-lines.ts";
import type { Terminal } from "../../report/terminal.ts";

/** What `check` is asked. */
export interface CheckArguments {
  readonly level?: Level;
  readonly reporter?: ReporterName;
  readonly fix?: boolean;
  readonly watch?: boolean;
}

type ReporterName = "pretty" | "json" | "github" | "sarif";

/** `acp-skills check`: 1 where there is an error or nothing to check, 0 otherwise. */
export async function runCheck(
  paths: readonly string[],
  { level = "spec", reporter: name = "pretty", fix = false, watch = false }: CheckArguments,
  terminal: Terminal,
): Promise<number> {
  const reporter = await loadReporter(name);
  const files = diskSkillFiles();
  const check = async (onDirectory?: (directory: string) => void): Promise<CheckOutcome> => {
    const given = paths.length === 0 ? ["."] : paths;
    return await runCheckOnce({
      paths: given,
      cwd: terminal.cwd,
      level,
      fix,
      files,
      ...(onDirectory && { onDirectory }),
    });
  };
  const print = async ({ report, complaints }: CheckOutcome): Promise<void> => {
    const { cwd, paint, columns } = terminal;
    await terminal.print(reporter(report, { cwd, paint, columns, version, sourceLine: openSourceLines(files) }));
    for (const complaint of complaints) terminal.tell(complaint);
    if (name !== "json") terminal.tell(sayCounts(report.counts));
  };
  if (watch) {
    const { watchCheck } = await import("./watch-check.ts");
    return (await watchCheck({ check, print, clock: systemClock, terminal })) ? 1 : 0;
  }
  const outcome = await check();
  await print(outcome);
  return outcome.failed ? 1 : 0;
}

async function loadReporter(name: ReporterName): Promise<Reporter> {
  switch (name) {
    case "pretty":
      return (await import("./reporters/pretty.ts")).prettyReporter;
    case "json":
      return (await import("./reporters/json.ts")).jsonReporter;
    case "github":
      return (await import("./reporters/github.ts")).githubReporter;
    case "sarif":
      return (await import("./reporters/sarif.ts")).sarifReporter;
  }
}
