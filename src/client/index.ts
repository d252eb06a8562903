export { readAdvertisement } from "./advertisement.ts";
export { observeSkills } from "./observe-skills.ts";
export { skillsOptIn } from "./opt-in.ts";
export { readSkillsDelta, readSkillsUpdate } from "./skills-update.ts";

export type { SkillsAdvertisement } from "./advertisement.ts";
export type { SkillsOptIn } from "./opt-in.ts";
export type { SkillsDelta, SkillsUpdate } from "./skills-update.ts";
export type { AvailableSkill } from "../wire/available-skill.ts";
export type { MessageStream } from "../wire/message-stream.ts";
