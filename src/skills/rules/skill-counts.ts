import path from "node:path";
import type { DirectoryRecord } from "../scan/read-directory.ts";
import type { Finding, RuleCode } from "./rules.ts";

/** Number of skills found and read. */
export interface SkillCounts {
  readonly found: number;
  readonly checked: number;
  readonly notChecked: number;
  /** False if unread places may contain more skills. */
  readonly complete: boolean;
  /** Why skills were not checked. The count is 0 if the number is unknown. */
  readonly reasons: readonly { readonly code: RuleCode; readonly count: number }[];
}

/** Rules that explain why an existing SKILL.md was not read. */
const unreadFile: ReadonlySet<RuleCode> = new Set(["unreadable", "not-a-regular-file", "dangling-symlink"]);
/** Rules that hide an unknown number of skills. */
const unreadPlace: ReadonlySet<RuleCode> = new Set<RuleCode>([
  "unreadable",
  "too-many-directories",
  "not-read-in-time",
  "ignored-unsearched",
  "too-deep",
  "skill-ignored",
]);

/** Counts directories with a SKILL.md, and the skills left out according to the findings. */
export function countSkills(records: readonly DirectoryRecord[], findings: readonly Finding[]): SkillCounts {
  const reasons = new Map<RuleCode, number>();
  const add = (code: RuleCode, count: number): void => {
    reasons.set(code, (reasons.get(code) ?? 0) + count);
  };
  let checked = 0;
  let complete = true;
  for (const record of records) {
    const reason = whyUnread(record);
    if (reason === undefined) checked++;
    else add(reason, 1);
  }
  for (const { code, leftOut } of findings) {
    if (leftOut !== undefined) add(code, leftOut);
    else if (code === "dangling-symlink") add(code, 1);
    else if (unreadPlace.has(code)) {
      add(code, 0);
      complete = false;
    }
  }
  const notChecked = [...reasons.values()].reduce((sum, count) => sum + count, 0);
  return {
    found: checked + notChecked,
    checked,
    notChecked,
    complete,
    reasons: Array.from(reasons, ([code, count]) => ({ code, count })),
  };
}

function whyUnread({ path: directory, skill, findings }: DirectoryRecord): RuleCode | undefined {
  if (skill !== undefined) return undefined;
  return findings.find(({ code, file }) => unreadFile.has(code) && path.dirname(file) === directory)?.code;
}
