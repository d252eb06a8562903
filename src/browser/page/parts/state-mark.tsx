import type { JSX } from "preact";
import type { SkillState } from "../../wire/skills.ts";
import { Icon } from "./icon.tsx";
import { stateDisplays } from "./skill-states.ts";

/** The state of a skill: an icon and its words. */
export function StateMark({ state }: { readonly state: SkillState }): JSX.Element {
  const { words, icon, tone } = stateDisplays[state];
  return (
    <span class={`mark ${tone}`}>
      <Icon name={icon} />
      {words}
    </span>
  );
}
