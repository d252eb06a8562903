import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { Door } from "../tool.ts";

/** The doors through which models call; users call through the others. */
const doorsOfModels: readonly Door[] = ["mcp", "in-process"];

const hasHidden = new WeakMap<Snapshot, boolean>();

/** Which versions a caller sees: models see none with `disable-model-invocation: true` (C-1.1). Undefined: all. */
export function visibleTo(
  door: Door,
  snapshot: Snapshot,
  visible: ((skill: Skill) => boolean) | undefined,
): ((skill: Skill) => boolean) | undefined {
  if (!doorsOfModels.includes(door) || !hidesAny(snapshot)) return visible;
  return (skill) => isForModels(skill) && visible?.(skill) !== false;
}

export function isForModels({ disableModelInvocation }: Skill): boolean {
  return disableModelInvocation !== true;
}

function hidesAny(snapshot: Snapshot): boolean {
  const known = hasHidden.get(snapshot);
  if (known !== undefined) return known;
  const hides = snapshot.skills.some(({ versions }) => !versions.every(isForModels));
  hasHidden.set(snapshot, hides);
  return hides;
}
