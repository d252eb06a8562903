import type { JSX } from "preact";
import type { SkillState } from "../../wire/skills.ts";
import { Icon, type IconName } from "./icon.tsx";

/** The words, icon and tone of a state. Icon and words say everything; the colour only repeats it. */
export interface MarkDisplay {
  readonly words: string;
  readonly icon: IconName;
  readonly tone: "good" | "notice" | "warning" | "danger" | "muted";
}

export function Mark({ words, icon, tone }: MarkDisplay): JSX.Element {
  return (
    <span class={`mark ${tone}`}>
      <Icon name={icon} />
      {words}
    </span>
  );
}

/** The display of each state of a skill. */
export const stateDisplays: Readonly<Record<SkillState, MarkDisplay>> = {
  ok: { words: "OK", icon: "check", tone: "muted" },
  warnings: { words: "Warnings", icon: "alert", tone: "warning" },
  "needs-approval": { words: "Needs approval", icon: "shield", tone: "notice" },
  changed: { words: "Changed since approval", icon: "diff", tone: "notice" },
  blocked: { words: "Blocked", icon: "ban", tone: "danger" },
  denied: { words: "Denied by policy", icon: "ban", tone: "danger" },
  shadowed: { words: "Shadowed", icon: "layers", tone: "muted" },
  invalid: { words: "Invalid", icon: "cross", tone: "danger" },
};

/** Whether a skill states its version: 0.0.0 stands for none. */
export function isStated(version: string): boolean {
  return version !== "" && version !== "0.0.0";
}
