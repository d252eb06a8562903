import type { SkillFacts } from "../select.ts";

/** How an agent announced a skill. */
export type SkillForm =
  /** The RFD's update, and its flat sample, which no agent is known to send. */
  | "available_skills_update"
  | "flat_available_skills_update"
  | "_available_skills_update"
  | "_acp-skills/skills_update"
  /** An entry of the type `skill` in the list of commands (ACP v2). */
  | "skill-entry"
  /** A command with our `_meta`, JetBrains AIR's, qwen-code's, yolop's; a command named `$pdf` or `skill:pdf`. */
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
  /** The name of the command that invokes it. */
  readonly command?: string | undefined;
  /** Its `SKILL.md`, on the agent's machine. */
  readonly file?: string | undefined;
  readonly digest?: string | undefined;
}

/** What a form says of a skill; the rest is the same for a whole message. */
export type SkillOfForm = Omit<StoredSkill, "agent" | "sessionId">;

/** A command that nothing marks as a skill. */
export interface PlainCommand {
  readonly name: string;
  readonly description: string;
}

/** What can be wrong with a message: all of it, one entry, its size, or an update before it that is missing. */
export type FaultCode =
  | "INVALID_UPDATE"
  | "INVALID_SKILL"
  | "INVALID_COMMAND"
  | "DUPLICATE_SKILL"
  | "SKILL_TOO_LONG"
  | "TOO_MANY_SKILLS"
  | "MISSED_UPDATE";

/** What is wrong with a message of an agent. */
export interface NotificationFault {
  readonly code: FaultCode;
  /** A JSON pointer into the params of the message. */
  readonly place: string;
  readonly message: string;
}

/** What the params of a notification contain. */
export type ParsedNotification = { readonly sessionId: string; readonly faults: readonly NotificationFault[] } & (
  | { readonly kind: "list"; readonly skills: readonly StoredSkill[]; readonly revision: number | undefined }
  | {
      readonly kind: "delta";
      readonly revision: number;
      readonly skills: readonly StoredSkill[];
      /** Names. */
      readonly removed: readonly string[];
    }
  | { readonly kind: "commands"; readonly skills: readonly StoredSkill[]; readonly commands: readonly PlainCommand[] }
  | { readonly kind: "nothing" }
);
