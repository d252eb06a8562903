import type { DecisionRequest, SkillPermissions } from "../../../wire/skills.ts";
import type { IconName } from "../../parts/icon.tsx";

export interface StandingDisplay {
  readonly words: string;
  readonly icon: IconName;
  readonly tone: "good" | "notice" | "danger";
  /** What a person can decide now, the likeliest first. */
  readonly choices: readonly {
    readonly decision: Exclude<DecisionRequest["decision"], "revoke">;
    readonly title: string;
    readonly style: "primary" | "danger" | "";
  }[];
}

const block = { decision: "block", title: "Block", style: "danger" } as const;

/** Whether the skill may run as it is installed now, and what can be decided about that. */
export function standingDisplayOf({
  isBlocked,
  denied,
  isFree,
  grants,
  changedFiles,
}: SkillPermissions): StandingDisplay {
  if (isBlocked)
    return {
      words: "Blocked: no version of it runs",
      icon: "ban",
      tone: "danger",
      choices: [{ decision: "unblock", title: "Unblock", style: "" }],
    };
  if (denied !== undefined) return { words: "Denied by a policy", icon: "ban", tone: "danger", choices: [block] };
  if (grants.some(({ isCurrent }) => isCurrent))
    return { words: "Approved as it is now", icon: "check", tone: "good", choices: [block] };
  if (isFree)
    return {
      words: "Needs no approval: it wants nothing beyond its sandbox",
      icon: "check",
      tone: "good",
      choices: [block],
    };
  return {
    words:
      changedFiles.length > 0 || grants.length > 0 ? "Changed since it was approved" : "Needs approval before it runs",
    icon: changedFiles.length > 0 || grants.length > 0 ? "diff" : "shield",
    tone: "notice",
    choices: [
      { decision: "approve", title: "Approve …", style: "primary" },
      { decision: "once", title: "Approve once …", style: "" },
      block,
    ],
  };
}
