import { permissionsOf } from "../manifest/permissions.ts";
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
  const found: Requirement[] = [];
  if (manifest?.runtime !== undefined) {
    const { language, entrypoint } = manifest.runtime;
    found.push({
      kind: "sandbox",
      certainty: "declared",
      where: { file, field: "runtime", text: `${language}: ${entrypoint}` },
    });
  }
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
