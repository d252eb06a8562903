import { systemClock } from "../../../base/clock.ts";
import { diskSkillFiles } from "../../../skills/files/disk-skill-files.ts";
import { version } from "../../../base/version.ts";
import { defineCommand, usageError } from "../../command.ts";
import { checkSkills } from "../../../skills/check/check-skills.ts";
import type { CheckReport } from "../../../skills/check/check-skills.ts";
import { levels, rules } from "../../../skills/rules/rules.ts";
import type { RuleCode, RuleSettings } from "../../../skills/rules/rules.ts";
import { nearest } from "../../../base/nearest.ts";
import type { Reporter } from "./reporters/reporter.ts";
import { showReads } from "../../report/progress.ts";
import { sayCounts } from "../../report/say-counts.ts";
import { openSourceLines } from "./reporters/source-lines.ts";

export const check = defineCommand({
  usage: "check [PATH…] [options]",
  positionals: { name: "PATH", minimum: 0, maximum: Infinity },
  options: {
    level: {
      type: "string",
      choices: levels,
      help: "Which rules apply. Default: spec, the Agent Skills specification; claude: with the fields of Claude Code.",
    },
    rule: {
      type: "string",
      multiple: true,
      value: "NAME=off|warning|error",
      help: "Change the severity of a rule. Repeatable.",
    },
    "max-problems": {
      type: "string",
      value: "N",
      help: "Show at most N problems. Default: 20. JSON and SARIF have all.",
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
    const settings = toRuleSettings(options.rule ?? []);
    const maxProblems = toMaxProblems(options["max-problems"]);
    const reporter = await loadReporter(name);
    const { cwd, paint, columns } = terminal;
    const files = showReads(diskSkillFiles(), terminal.progress);
    const checkOnce = async (onDirectory?: (directory: string) => void): Promise<CheckReport> => {
      const given = paths.length === 0 ? ["."] : paths;
      const checking = { cwd, level, rules: settings, fix, files, ...(onDirectory && { onDirectory }) };
      return await checkSkills(given, checking).finally(terminal.progress.done);
    };
    const print = async (report: CheckReport): Promise<void> => {
      const sourceLine = openSourceLines(files);
      await terminal.print(reporter(report, { cwd, paint, columns, maxProblems, version, sourceLine }));
      for (const complaint of report.complaints) terminal.tell(complaint);
      if (name !== "json") terminal.tell(sayCounts(report.counts));
    };
    let report: CheckReport;
    if (watch) {
      const { watchCheck } = await import("./watch-check.ts");
      report = await watchCheck({ check: checkOnce, print, clock: systemClock, terminal });
    } else {
      report = await checkOnce();
      await print(report);
    }
    return report.complaints.length > 0 || report.problems.some(({ severity }) => severity === "error") ? 1 : 0;
  },
});

/** Reads `NAME=off|warning|error`. */
function toRuleSettings(given: readonly string[]): RuleSettings {
  const settings: Partial<Record<RuleCode, "off" | "warning" | "error">> = {};
  for (const setting of given) {
    const [name = "", severity = ""] = setting.split("=", 2);
    if (!isRule(name)) {
      const [close] = nearest(name, Object.keys(rules));
      throw usageError(`unknown rule ${name}${close === undefined ? "" : `; did you mean ${close}?`}`);
    }
    if (severity !== "off" && severity !== "warning" && severity !== "error") {
      throw usageError(`--rule ${name} needs off, warning or error, as in --rule ${name}=off`);
    }
    settings[name] = severity;
  }
  return settings;
}

function isRule(name: string): name is RuleCode {
  return Object.hasOwn(rules, name);
}

const usualProblems = 20;

function toMaxProblems(given: string | undefined): number {
  if (given === undefined) return usualProblems;
  if (!/^\d{1,9}$/.test(given)) throw usageError(`--max-problems needs a whole number, not ${given}`);
  return Number(given);
}

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
