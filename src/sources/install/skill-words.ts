import { quoted } from "../../base/text/quoted.ts";
import type { InspectedSkill } from "../../skills/check.ts";
import { permissionWords } from "../../skills/permissions.ts";

/** Describes a skill whose own files name it otherwise than its source does; undefined if the source only puts words before the name. */
export function renameWords({ key, slug }: Pick<InspectedSkill, "key" | "slug">): string | undefined {
  if (key === slug || key.endsWith(`-${slug}`)) return undefined;
  return `its own files name it ${slug}, and agents are offered it as ${slug}`;
}

/** Lists each permission, each of the agent's tools that the skill's author expects, and each command that agents run by themselves. */
export function wantedWords({
  wants,
  expects,
  hostCommands,
}: Pick<InspectedSkill, "wants" | "expects" | "hostCommands">): readonly string[] {
  return [
    ...permissionWords(wants),
    ...expects.map((tool) => `the agent's tool ${tool}`),
    ...hostCommands.map((command) => `that agents which load it run ${quoted(command)} on this machine`),
  ];
}
