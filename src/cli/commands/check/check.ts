import { systemClock } from "../../../base/clock.ts";
import { diskSkillFiles } from "../../../skills/files/disk-skill-files.ts";
import { version } from "../../../base/version.ts";
import { defineCommand } from "../../command.ts";
import type { Reporter } from "./check-report.ts";
import { runCheckOnce } from "./run-check.ts";
import type { CheckOutcome } from "./run-check.ts";
import { sayCounts } from "../../report/say-counts.ts";
import { openSourceLines } from "../../report/source-lines.ts";

export const check = defineCommand({
  usage: "check [PATH…] [options]",
  positionals: { name: "PATH", minimum: 0, maximum: Infinity },
  options: {
    level: {
      type: "string",
      choices: ["spec", "wire", "lenient"],
      help: "Which rules apply. Default: spec, the Agent Skills specification.",
    },
    reporter: {
      type: "string",
      choices: ["pretty", "json", "github", "sarif"],
      help: "Output format. Default: pretty.",
    },
    fix: { type: "boolean", help: "Fix what can be fixed safely, in place, and report the rest." },
    watch: { type: "boolean", help: "Check again on every change, until interrupted." },
  },
  examples: ["check", "check ./skills/pdf --fix", "check --reporter github"],
  notes: [
    "PATH is a SKILL.md, a skill's directory, or a directory that contains skills. Default: the current directory.",
    "In a directory, .agents/skills and .claude/skills are checked as well.",
    "Exits with 1 if there is an error, or if a PATH does not exist or contains no skill; warnings alone exit with 0.",
  ],
  async run({ positionals: paths, options }, terminal) {
    const { level = "spec", reporter: name = "pretty", fix = false, watch = false } = options;
    const reporter = await loadReporter(name);
    const files = diskSkillFiles();
    const checkOnce = async (onDirectory?: (directory: string) => void): Promise<CheckOutcome> => {
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
      return (await watchCheck({ check: checkOnce, print, clock: systemClock, terminal })) ? 1 : 0;
    }
    const outcome = await checkOnce();
    await print(outcome);
    return outcome.failed ? 1 : 0;
  },
});

type ReporterName = "pretty" | "json" | "github" | "sarif";

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
