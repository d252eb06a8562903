import { isSkillsError } from "../../../base/errors.ts";
import type { SkillFiles } from "../../../skills/files.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { ShownProblem } from "../../wire/skills.ts";

/** Lines before and after the place of a problem. */
const context = 2;
const mostLines = 12;
const longestLine = 400;
const readBytes = 512 * 1024;
const mostProblems = 500;

/** Problems with the lines around their places. Those of files that cannot be read have none. */
export function withFrames(problems: readonly Problem[], files: Pick<SkillFiles, "head">): readonly ShownProblem[] {
  const texts = new Map<string, readonly string[]>();
  const linesOf = (file: string): readonly string[] => {
    const known = texts.get(file) ?? readLines(files, file);
    texts.set(file, known);
    return known;
  };
  return problems.slice(0, mostProblems).map((problem) => {
    const lines = linesOf(problem.file);
    const first = Math.max(1, problem.line - context);
    const last = Math.min(lines.length, (problem.endLine ?? problem.line) + context, first + mostLines - 1);
    const frame = [];
    for (let line = first; line <= last; line++)
      frame.push({ line, text: (lines[line - 1] ?? "").slice(0, longestLine) });
    return { ...problem, frame };
  });
}

function readLines(files: Pick<SkillFiles, "head">, file: string): readonly string[] {
  try {
    const text = Buffer.from(files.head(file, readBytes).bytes).toString("utf8");
    return text.split(/\r\n|\n|\r/);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    return []; // A directory, or what is gone.
  }
}
