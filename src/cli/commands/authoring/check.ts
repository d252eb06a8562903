import { existsSync } from "node:fs";
import path from "node:path";
import { nearest } from "../../../base/text/nearest.ts";
import { version } from "../../../base/version.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { type Advice, type CheckReport, checkPaths, loadAdviceReader } from "../../../skills/check.ts";
import { type SkillFiles, diskSkillFiles } from "../../../skills/files.ts";
import { type RuleCode, type RuleSettings, levels, rules } from "../../../skills/rules.ts";
import { json } from "../../arguments/shared-options.ts";
import { parseNumber, reasonOf } from "../../arguments/values.ts";
import { defineCommand, usageError, choice, texts, text, flag, exit } from "../../command.ts";
import { showReads } from "../../report/progress.ts";
import { sayCounts, type Reporter } from "../../report/problem-report.ts";

/** A loader for the reporter of each format; only the chosen one is loaded. */
const reporters = {
  pretty: async (): Promise<Reporter> => (await import("../../report/problem-report.ts")).prettyReporter,
  json: async (): Promise<Reporter> => (await import("./check/machine-readable.ts")).jsonReporter,
  github: async (): Promise<Reporter> => (await import("./check/machine-readable.ts")).githubReporter,
  sarif: async (): Promise<Reporter> => (await import("./check/machine-readable.ts")).sarifReporter,
};

export const command = defineCommand({
  positionals: { name: "PATH", minimum: 0, maximum: Infinity, values: "files" },
  options: {
    level: choice(levels, "Which rules apply; see below. Default: agents."),
    rule: texts("NAME=off|warning|error", "Change the severity of a rule. Repeatable."),
    "max-problems": text("N", "Show at most N problems. Default: 20. JSON and SARIF have all."),
    reporter: choice(["pretty", "json", "github", "sarif"], "Output format. Default: pretty."),
    json: { ...json, help: "Print JSON: the same as --reporter json." },
    fix: flag("Fix safely in place what can be, and report the rest. Without PATH: .agents/skills and .claude/skills."),
    advice: texts(
      "FILE.sarif",
      "Show what a scanner of others found beside our problems; it decides nothing. Repeatable.",
    ),
    watch: flag("Check again on every change, until interrupted."),
  },
  examples: ["check", "check ./skills/pdf --fix", "check --reporter github"],
  notes: [
    "PATH is a SKILL.md, a skill's directory, or a directory that contains skills. Default: the current directory.",
    "In a directory, .agents/skills and .claude/skills are checked as well.",
    "Levels: agents, the Agent Skills specification with the fields that agents document; spec, the specification alone; wire, what editors are sent;",
    "  lenient, what is offered at all: a skill with an error at this level is left out.",
    "Exits with 1 if there is an error, or if a PATH contains no skill, with 2 if it does not exist; warnings alone exit with 0.",
  ],
  async run({ positionals: paths, options }, terminal) {
    const { level = "agents", fix = false, watch = false } = options;
    const { reporter: name = options.json === true ? "json" : "pretty" } = options;
    const settings = toRuleSettings(options.rule ?? []);
    const maxProblems = parseNumber("--max-problems", options["max-problems"] ?? "20", [0, 999_999_999]);
    if (options.json === true && name !== "json") throw usageError(`--json and --reporter ${name} exclude each other`);
    const reporter = await reporters[name]();
    const { cwd, paint, columns } = terminal;
    const files = showReads(diskSkillFiles(), terminal.progress);
    const checkOnce = async (onDirectory?: (directory: string) => void): Promise<CheckReport> => {
      const given = paths.length > 0 ? paths : fix ? fixedByDefault(cwd) : ["."];
      const checking = { cwd, level, rules: settings, fix, files, ...(onDirectory && { onDirectory }) };
      const report = await checkPaths(given, checking).finally(terminal.progress.done);
      return options.advice === undefined
        ? report
        : { ...report, advice: await readAdvice(options.advice, cwd, files) };
    };
    const print = async (report: CheckReport): Promise<void> => {
      const sourceLine = openSourceLines(files);
      await terminal.print(reporter(report, { cwd, paint, columns, maxProblems, version, sourceLine }));
      const counts = name === "json" ? undefined : sayCounts(report.counts);
      for (const line of [...report.complaints, ...(counts === undefined ? [] : [counts])]) terminal.note(line);
    };
    let report: CheckReport;
    if (watch) {
      const { watchCheck } = await import("./check/watch-check.ts");
      report = await watchCheck(checkOnce, print, terminal);
    } else {
      report = await checkOnce();
      await print(report);
    }
    if (paths.some((given) => !existsSync(path.resolve(cwd, given)))) return exit.usage;
    const isBad = report.complaints.length > 0 || report.problems.some(({ severity }) => severity === "error");
    return isBad ? exit.found : exit.done;
  },
});

/** Reads the findings of scanners from SARIF logs. Throws INVALID_OPTIONS for a file that is no SARIF log. */
async function readAdvice(given: readonly string[], cwd: string, files: SkillFiles): Promise<readonly Advice[]> {
  const { maxAdviceReadBytes, parseAdvice } = await loadAdviceReader();
  return given.flatMap((file) => {
    try {
      return parseAdvice(files.head(path.resolve(cwd, file), maxAdviceReadBytes).bytes, file);
    } catch (error) {
      if (isSkillsError(error)) throw usageError(`--advice ${error.message}`);
      throw usageError(`--advice ${file} cannot be read: ${reasonOf(error)}`);
    }
  });
}

/** The skill directories of agents in `cwd`; other copies, such as backups, only if named. Throws INVALID_OPTIONS without one. */
function fixedByDefault(cwd: string): readonly string[] {
  const roots = [".agents/skills", ".claude/skills"].filter((root) => existsSync(path.join(cwd, root)));
  if (roots.length > 0) return roots;
  throw usageError("no .agents/skills or .claude/skills here; name what to fix, such as check . --fix");
}

/** Reads `NAME=off|warning|error`. */
function toRuleSettings(given: readonly string[]): RuleSettings {
  const settings: Partial<Record<RuleCode, "off" | "warning" | "error">> = {};
  for (const setting of given) {
    const [name = "", severity = ""] = setting.split("=", 2);
    if (!isRule(name)) {
      const [close] = nearest(name, Object.keys(rules));
      throw usageError(`unknown rule ${name}; ${close === undefined ? "see any report" : `did you mean ${close}?`}`);
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

/** The maximum number of bytes of a file that are read for code frames; problems after them have no frame. */
const frameBytes = 1024 * 1024;

/** Reads lines of files for code frames. Caches only the last file. */
function openSourceLines(files: SkillFiles): (file: string, line: number) => string | undefined {
  let remembered = { file: "", lines: noLines };
  return (file, line) => {
    if (remembered.file !== file) remembered = { file, lines: readLines(files, file) };
    return remembered.lines[line - 1];
  };
}

const noLines: readonly string[] = [];

function readLines(files: SkillFiles, file: string): readonly string[] {
  try {
    const { bytes } = files.head(file, frameBytes);
    return new TextDecoder("utf-8", { ignoreBOM: false }).decode(bytes).split(/\r\n|\n|\r/);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    // A directory, or an unreadable file: reported as a problem, without lines.
    return noLines;
  }
}
