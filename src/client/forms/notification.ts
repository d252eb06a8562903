import type { SkillFacts } from "../select.ts";

/** The form in which an agent announced a skill. */
export type SkillForm =
  /** The RFD's update, and its flat sample, which no agent is known to send. */
  | "available_skills_update"
  | "flat_available_skills_update"
  | "_available_skills_update"
  | "_acp-skills/skills_update"
  /** An entry of the type `skill` in the list of commands (ACP v2). */
  | "skill-entry"
  /** A command with `_meta` of acp-skills, JetBrains AIR, qwen-code or yolop; a command named `$pdf` or `skill:pdf`. */
  | "acp-skills-command"
  | "air-command"
  | "qwen-skills"
  | "yolop-command"
  | "named-command";

/** A skill as an agent announced it. */
export interface StoredSkill extends SkillFacts {
  /** The key of the connection. */
  readonly agent: string;
  readonly sessionId: string;
  readonly form: SkillForm;
  /** The name of the command that invokes the skill. */
  readonly command?: string | undefined;
  /** The path of the skill's `SKILL.md` on the agent's machine. */
  readonly file?: string | undefined;
  readonly digest?: string | undefined;
}

/** The facts of a skill in a form; `agent` and `sessionId` are the same for a whole message. */
export type SkillOfForm = Omit<StoredSkill, "agent" | "sessionId">;

/** A command that nothing marks as a skill. */
export interface PlainCommand {
  readonly name: string;
  readonly description: string;
}

/** The kinds of faults in a message: all of it, one entry, its size, or an earlier update that is missing. */
export type FaultCode =
  | "INVALID_UPDATE"
  | "INVALID_SKILL"
  | "INVALID_COMMAND"
  | "DUPLICATE_SKILL"
  | "SKILL_TOO_LONG"
  | "TOO_MANY_SKILLS"
  | "MISSED_UPDATE";

/** A fault in a message of an agent. */
export interface NotificationFault {
  readonly code: FaultCode;
  /** A JSON pointer into the params of the message. */
  readonly place: string;
  readonly message: string;
}

/** The parsed params of a notification. */
export type ParsedNotification = { readonly sessionId: string; readonly faults: readonly NotificationFault[] } & (
  | { readonly kind: "list"; readonly skills: readonly StoredSkill[]; readonly revision: number | undefined }
  | {
      readonly kind: "delta";
      readonly revision: number;
      readonly skills: readonly StoredSkill[];
      /** The names of the removed skills. */
      readonly removed: readonly string[];
    }
  | { readonly kind: "commands"; readonly skills: readonly StoredSkill[]; readonly commands: readonly PlainCommand[] }
  | { readonly kind: "nothing" }
);
