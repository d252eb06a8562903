import { byCodePoint } from "../../base/text/code-point-order.ts";
import type { RemoteSkill } from "../remote-skill.ts";

/**
 * What one place publishes in several forms, as one list sorted by name. Of a skill in both, Skill Sharing says what it is; its files come
 * from Agent Skills, which has their digests, unless it is to be invoked.
 */
export function mergeListings(
  sharing: readonly RemoteSkill[],
  agentSkills: readonly (readonly RemoteSkill[])[],
): readonly RemoteSkill[] {
  const merged = new Map<string, RemoteSkill>();
  for (const skills of agentSkills)
    for (const skill of skills) if (!merged.has(skill.name)) merged.set(skill.name, skill);
  for (const skill of sharing) {
    const files = merged.get(skill.name)?.content;
    const isDownloaded = files !== undefined && files.type !== "unusable" && skill.capabilityType !== "api";
    merged.set(skill.name, isDownloaded ? { ...skill, content: files } : skill);
  }
  return [...merged.values()].sort((one, other) => byCodePoint(one.name, other.name));
}
