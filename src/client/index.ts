export { readAdvertisement } from "./initialize.ts";
export { observeSkills } from "./observe-skills.ts";
export { skillsOptIn } from "./initialize.ts";
export { readSkillsDelta, readSkillsUpdate } from "./skills-update.ts";
export { openSearch } from "./select/search-skills.ts";
export { facetNames, facetsOf, matcherOf, matches } from "./select/facets.ts";
export { compareAgents } from "./select/compare-agents.ts";
export { openRecommendations } from "./select/recommend-skills.ts";

export type { SkillsAdvertisement } from "./initialize.ts";
export type { SkillsOptIn } from "./initialize.ts";
export type { SkillsDelta, SkillsUpdate } from "./skills-update.ts";
export type { AvailableSkill } from "../wire/available-skill.ts";
export type { MessageStream } from "../wire/methods.ts";
export type { SkillFacts } from "./select/skill-facts.ts";
export type { ChosenFacets, FacetName, Facets, FacetValue } from "./select/facets.ts";
export type { AgentSkills, ComparedSkill } from "./select/compare-agents.ts";
export type { Recommendation } from "./select/recommend-skills.ts";
