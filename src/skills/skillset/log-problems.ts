import { type Log, createOnceLog } from "../../base/log.ts";
import type { Catalog } from "./catalog.ts";
import type { Problem } from "../rules/problem.ts";
import { type RuleCode, rules, severityAt } from "../rules.ts";

/** Maximum number of lines at a time, so that a directory full of invalid skills does not flood the log. */
const lineLimit = 20;
const rememberedLimit = 10_000;

/**
 * Logs the problems of skills, each once: as a warning if something is not offered, else as info. Sorted by severity,
 * with unreadable directories first.
 */
export function createProblemLog(log: Log): (problems: readonly Problem[]) => void {
  const { isNew } = createOnceLog(log, { limit: rememberedLimit });
  let before: readonly Problem[] = [];
  return (problems) => {
    if (problems === before) return;
    before = problems;
    const news = problems.filter(({ code, file, message }) => isNew(`${code} ${file} ${message}`));
    news.sort((a, b) => rank(a) - rank(b));
    for (const problem of news.slice(0, lineLimit)) log(toLevel(problem), toLine(problem));
    const [next] = news.slice(lineLimit);
    if (next !== undefined) log(toLevel(next), `… and ${news.length - lineLimit} more; see acp-skills check.`);
  };
}

/** Logs the problems of the skills of one session, now and after each change. */
export function logProblemsOf(
  { catalog, problems }: { readonly catalog: WatchedSkills; readonly problems: readonly string[] },
  log: Log,
): void {
  for (const problem of problems) log("warning", problem);
  const logProblems = createProblemLog(log);
  const report = (): void => {
    logProblems(catalog.snapshot.problems);
  };
  catalog.onChange(report);
  catalog.ready.then(report, (error: unknown) => log("warning", `Skills cannot be read: ${String(error)}`));
}

/**
 * Logs problems as a server for others does: a line for what is not offered, and one line, once, for all skills that are offered here
 * and skipped by readers that refuse what the specification calls an error.
 */
export function logPublishedProblems(session: Parameters<typeof logProblemsOf>[0], log: Log): void {
  logProblemsOf(session, (level, message) => {
    if (level !== "info") log(level, message);
  });
  void session.catalog.ready.then(({ skills }) => {
    const isSkipped = ({ code }: Problem): boolean => isRule(code) && severityAt(code, "agents") === "error";
    const count = skills.filter(({ problems }) => problems.some(isSkipped)).length;
    if (count > 0)
      log("info", `Stricter readers will skip ${count} of ${skills.length} skills; acp-skills check says why.`);
  });
}

function isRule(code: string): code is RuleCode {
  return Object.hasOwn(rules, code);
}

type WatchedSkills = Pick<Catalog, "snapshot" | "ready" | "onChange">;

function rank({ code, severity }: Problem): number {
  return severity === "note" ? 3 : severity === "warning" ? 2 : code === "unreadable" ? 0 : 1;
}

function toLevel({ severity }: Problem): "warning" | "info" {
  return severity === "error" ? "warning" : "info";
}

function toLine({ code, file, line, column, message, fix }: Problem): string {
  return `${file}:${line}:${column} ${code}: ${message}. ${fix}`;
}
