// For editor authors: functions that `acp-skills` exports, too.
export { readAdvertisement } from "./initialize.ts";
export { observeSkills } from "./observe-skills.ts";
export { optIn } from "./initialize.ts";
export { readSkillsDelta, readSkillsUpdate } from "./skills-update.ts";
export type { SkillsAdvertisement } from "./initialize.ts";
export type { OptInCapabilities, SkillsOptIn } from "./initialize.ts";
export type { SkillsDelta, SkillsUpdate } from "./skills-update.ts";
export type { AvailableSkill } from "../wire/available-skill.ts";
export type { MessageStream } from "../wire/methods.ts";

// For editors that store skills: the store of `acp-skills/client`, which reads every form in which agents send skills.
export { createSkillsStore } from "./store/skills-store.ts";
export type { SkillsHandlers, SkillsStore, SkillsStoreOptions } from "./store/skills-store.ts";
export type { AgentCapabilities, InvocationBlock, StoreProblem } from "./store/connected-agent.ts";
export type { SkillSession } from "./store/session.ts";
export type { StoreLimits } from "./forms/entries.ts";
export type { FaultCode, PlainCommand, SkillForm, StoredSkill } from "./forms/notification.ts";

// For editors that select skills: search, facets, comparison and recommendations, only in `acp-skills/client`.
export { openSearch } from "./select/search-skills.ts";
export { facetNames, facetsOf, matcherOf, matches } from "./select.ts";
export { compareAgents } from "./select/compare-agents.ts";
export { openRecommendations } from "./select/recommend-skills.ts";
export type { SkillFacts } from "./select.ts";
export type { ChosenFacets, FacetName, Facets, FacetValue } from "./select.ts";
export type { AgentSkills, ComparedSkill } from "./select/compare-agents.ts";
export type { Recommendation } from "./select/recommend-skills.ts";
