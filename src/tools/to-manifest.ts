import type { Skill } from "../skills/skill.ts";
import { toJsonObject } from "./to-json.ts";

/** A skill's manifest as JSON (CONTRACT C-3.2): of `skill.toml`, or put together from the frontmatter. New at every call. */
export function toManifest(skill: Skill): Record<string, unknown> {
  const { manifest, namespace } = skill;
  return manifest === undefined ? fromFrontmatter(skill) : toJsonObject({ ...manifest, namespace });
}

function fromFrontmatter(skill: Skill): Record<string, unknown> {
  const { name, version, description, kind, namespace, tags, license, compatibility, allowedTools } = skill;
  const permissions = permissionsOf(skill);
  return {
    name,
    version,
    description,
    kind,
    namespace,
    tags: [...tags],
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(allowedTools !== undefined && { allowed_tools: [...allowedTools] }),
    ...(Object.keys(permissions).length > 0 && { permissions }),
  };
}

/** What `metadata` asks for (CONTRACT C-1.4); without it, a skill's scripts get nothing. */
function permissionsOf({ metadata }: Skill): Record<string, unknown> {
  const network = words(metadata["acp-skills-network"]);
  const secrets = words(metadata["acp-skills-secrets"]);
  const project = metadata["acp-skills-project"]?.trim();
  return {
    ...(network.length > 0 && { network }),
    ...(secrets.length > 0 && { secrets }),
    ...(project !== undefined && isProject(project) && { project }),
  };
}

function isProject(text: string): boolean {
  return text === "none" || text === "read" || text === "write";
}

function words(text = ""): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
