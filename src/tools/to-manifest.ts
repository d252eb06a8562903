import type { Skill } from "../skills/skill.ts";
import { toJsonObject } from "./to-json.ts";

const manifests = new WeakMap<Skill, Readonly<Record<string, unknown>>>();

/** A skill's manifest as JSON (CONTRACT C-3.2): of `skill.toml`, or put together from the frontmatter. Made once a skill. */
export function toManifest(skill: Skill): Readonly<Record<string, unknown>> {
  const known = manifests.get(skill);
  if (known !== undefined) return known;
  const manifest =
    skill.manifest === undefined
      ? fromFrontmatter(skill)
      : toJsonObject({ ...skill.manifest, namespace: skill.namespace });
  manifests.set(skill, manifest);
  return manifest;
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
