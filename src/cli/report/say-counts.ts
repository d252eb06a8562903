import type { Problem, RuleCode } from "../../skills/rules.ts";
import type { SkillCounts } from "../../skills/skill.ts";
import { counted } from "../../base/text/code-points.ts";
import { type Paint, plainPaint } from "./terminal.ts";

const reasons: Partial<Record<RuleCode, string>> = {
  "too-deep": "too deep",
  "skill-ignored": "ignored by git",
  "skill-file-unused": "next to another SKILL.md",
  "skill-file-misnamed": "not named SKILL.md",
  "manifest-alone": "skill.toml without SKILL.md",
  "dangling-symlink": "behind dangling links",
  "not-a-regular-file": "not a regular file",
  "too-many-directories": "beyond the directory limit",
  "not-read-in-time": "not read in time",
  "ignored-unsearched": "in ignored directories",
};

/** The last line of every list and check: how many skills were found and checked, and why the others were not. */
export function sayCounts({ found, checked, notChecked, complete, reasons: why }: SkillCounts): string {
  const left = complete ? `${notChecked}` : notChecked === 0 ? "an unknown number" : `at least ${notChecked}`;
  const counts = `found ${found}, checked ${checked}, not checked ${left}`;
  if (why.length === 0) return counts;
  const parts = why.map(({ code, count }) => `${count === 0 ? "" : `${count} `}${reasons[code] ?? code}`);
  return `${counts} (${parts.join(", ")})`;
}

export const severityColours = { error: "red", warning: "yellow", note: "yellow" } as const;

/** The number of problems by severity: `3 errors, 1 warning`. */
export function saySeverities(problems: readonly Problem[], paint: Paint = plainPaint): string {
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const count = problems.filter((problem) => problem.severity === severity).length;
    return count === 0 ? [] : [paint(severityColours[severity], counted(count, severity))];
  });
  return counts.join(", ");
}
