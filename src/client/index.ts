export { readAdvertisement } from "./initialize.ts";
export { observeSkills } from "./observe-skills.ts";
export { skillsOptIn } from "./initialize.ts";
export { readSkillsDelta, readSkillsUpdate } from "./skills-update.ts";

export type { SkillsAdvertisement } from "./initialize.ts";
export type { SkillsOptIn } from "./initialize.ts";
export type { SkillsDelta, SkillsUpdate } from "./skills-update.ts";
export type { AvailableSkill } from "../wire/available-skill.ts";
export type { MessageStream } from "../wire/methods.ts";
