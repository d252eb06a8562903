/// <reference types="node" preserve="true" />

// For agent authors: skills for an agent in this process, and the tools for one that calls its model itself.
export { withSkills, wrapStream } from "./acp/mounts.ts";
export { openSkills } from "./acp/in-process.ts";
export type { NewSession, SkillsChange, SkillsHandle } from "./acp/in-process.ts";
export type { CallReport, OpenSkillsOptions, Skills, SkillsCallOptions } from "./acp/in-process.ts";
export type { AnnouncedForm, SkillsOptions, ToolForm } from "./runtime/options.ts";
export type { Answer, Question } from "./runtime/question.ts";
export type { ToolDefinitions, ToolFormat } from "./runtime/tools.ts";
export type { ServedToolName, ToolInput, ToolOutput } from "./runtime/tools.ts";

// For programs that start agents: the wrapper as a function.
export { wrapCommand } from "./acp/mounts.ts";
export type { ExitStatus, WrapCommandOptions } from "./acp/wrap-command.ts";

// For editor authors: how to ask for skills and to read them; more is in `acp-skills/client`, which needs no Node.
export { optIn, readAdvertisement } from "./client/initialize.ts";
export { observeSkills } from "./client/observe-skills.ts";
export { readSkillsDelta, readSkillsUpdate } from "./client/skills-update.ts";
export type { OptInCapabilities, SkillsAdvertisement, SkillsOptIn } from "./client/initialize.ts";
export type { SkillsDelta, SkillsUpdate } from "./client/skills-update.ts";

// For checkers of skills: what `acp-skills check` finds, as data.
export { checkSkills } from "./skills/check.ts";
export type { CheckOptions, CheckReport } from "./skills/check.ts";

// For everyone: the only error class, and the types that several of these functions share.
export { SkillsError, isSkillsError } from "./base/errors.ts";
export type { SkillsErrorCode, SkillsErrorFacts } from "./base/errors.ts";
export type { Log } from "./base/log.ts";
export type { Problem } from "./skills/rules.ts";
export type { Skill } from "./skills/skill.ts";
export type { AvailableSkill } from "./wire/available-skill.ts";
export type { MessageStream } from "./wire/methods.ts";
