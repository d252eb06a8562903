/// <reference types="node" preserve="true" />
export { withSkills } from "./acp/mounts.ts";
export { wrapCommand } from "./acp/mounts.ts";
export { wrapStream } from "./acp/mounts.ts";
export { checkSkills } from "./check-skills.ts";
export { readAdvertisement } from "./client/initialize.ts";
export { observeSkills } from "./client/observe-skills.ts";
export { skillsOptIn } from "./client/initialize.ts";
export { readSkillsDelta, readSkillsUpdate } from "./client/skills-update.ts";
export { SkillsError, isSkillsError } from "./errors.ts";
export { openSkills } from "./in-process/open-skills.ts";

export type { ExitStatus } from "./acp/process/start-agent.ts";
export type { WrapCommandOptions } from "./acp/process/wrap-command.ts";
export type { SkillsAdvertisement } from "./client/initialize.ts";
export type { SkillsOptIn } from "./client/initialize.ts";
export type { SkillsDelta, SkillsUpdate } from "./client/skills-update.ts";
export type { SkillsErrorCode } from "./errors.ts";
export type { Log } from "./base/log.ts";
export type { CallReport, OpenSkillsOptions, Skills, SkillsCallOptions } from "./in-process/open-skills.ts";
export type { SkillsChange } from "./in-process/serve-skills.ts";
export type { EmitForm, SkillsOptions, ToolForm } from "./options.ts";
export type { CheckOptions, CheckReport } from "./skills/check/check-skills.ts";
export type { Problem } from "./skills/rules/problem.ts";
export type { Skill } from "./skills/skill.ts";
export type { ToolDefinitions, ToolFormat } from "./tools/tools.ts";
export type { ServedToolName, ToolInput, ToolOutput } from "./tools/tools.ts";
export type { AvailableSkill } from "./wire/available-skill.ts";
export type { MessageStream } from "./wire/methods.ts";
