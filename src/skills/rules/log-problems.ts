import type { Log } from "../../base/log.ts";
import { openToldOnce } from "../../base/log.ts";
import type { Catalog } from "../catalog.ts";
import type { Problem } from "./problem.ts";

/** Maximum number of lines at a time, so that a directory full of invalid skills does not flood the log. */
const lineLimit = 20;
const rememberedLimit = 10_000;

/**
 * Logs the problems of skills, each once: as a warning if something is not offered, else as info. Sorted by severity,
 * with unreadable directories first.
 */
export function createProblemLog(log: Log): (problems: readonly Problem[]) => void {
  const { isNew } = openToldOnce(log, { limit: rememberedLimit });
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
  const tell = (): void => {
    logProblems(catalog.snapshot.problems);
  };
  catalog.onChange(tell);
  catalog.ready.then(tell, (error: unknown) => log("warning", `Skills cannot be read: ${String(error)}`));
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
