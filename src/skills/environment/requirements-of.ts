import { permissionsOf } from "../permissions.ts";
import type { Skill } from "../skill.ts";
import { readText } from "./read-text.ts";
import type { Requirement } from "./requirement.ts";

/** What the frontmatter of a skill asks for: its `compatibility` and the keys that declare requirements. */
export function statedRequirements({ compatibility, requires = [] }: Skill): readonly Requirement[] {
  if (compatibility === undefined) return requires;
  return [...readText(compatibility, { file: "SKILL.md", field: "compatibility" }), ...requires];
}

/** Whether {@link statedRequirements} may find any. */
export function statesRequirements({ compatibility, requires }: Skill): boolean {
  return compatibility !== undefined || requires !== undefined;
}

/** What of its permissions not every sandbox supports. */
export function sandboxNeeds(skill: Skill): readonly string[] {
  const { network, project, isolation } = permissionsOf(skill);
  if (skill.manifest?.remote !== undefined || isolation !== undefined) return [];
  return [...(network.length > 0 ? ["network access"] : []), ...(project === "none" ? [] : ["project access"])];
}

/** The sandbox that its code runs in; undefined if nothing says that it has code. */
export function sandboxRequirement(skill: Skill): Requirement | undefined {
  const { runtime } = skill.manifest ?? {};
  const needs = sandboxNeeds(skill);
  if (runtime === undefined && needs.length === 0) return undefined;
  const where =
    runtime === undefined
      ? { file: "SKILL.md", field: "metadata", text: needs.join(", ") }
      : { file: "skill.toml", field: "runtime", text: `${runtime.language}: ${runtime.entrypoint}` };
  return { kind: "sandbox", needs, certainty: "declared", where };
}

/** What running its code through acp-skills needs, from its manifest or its `acp-skills-…` metadata. */
export function codeRequirements(skill: Skill): readonly Requirement[] {
  const { manifest } = skill;
  const { network, secrets } = permissionsOf(skill);
  const file = manifest === undefined ? "SKILL.md" : "skill.toml";
  const field = (name: "network" | "secrets"): string => {
    if (manifest === undefined) return `metadata.acp-skills-${name}`;
    if (manifest.remote !== undefined) return name === "network" ? "remote.endpoint" : "remote.secret";
    return `permissions.${name}`;
  };
  const sandbox = sandboxRequirement(skill);
  const found: Requirement[] = sandbox === undefined ? [] : [sandbox];
  if (network.length > 0) {
    const hosts = network.map((origin) => origin.replace(/^https?:\/\//, ""));
    const where = { file, field: field("network"), text: network.join(" ") };
    found.push({ kind: "network", hosts, certainty: "declared", where });
  }
  for (const secret of secrets)
    found.push({
      kind: "secret",
      secret,
      certainty: "declared",
      where: { file, field: field("secrets"), text: secret },
    });
  for (const skillName of manifest?.dependencies?.skills ?? []) {
    const where = { file, field: "dependencies.skills", text: skillName };
    found.push({ kind: "skill", skill: skillName, certainty: "declared", where });
  }
  return found;
}
