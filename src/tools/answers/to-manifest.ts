import type { Skill } from "../../skills/skill.ts";
import { permissionsOf } from "../../skills/manifest/permissions.ts";
import { toJsonObject } from "./to-json.ts";

/** A skill's manifest as new JSON (CONTRACT C-3.2): from `skill.toml`, or composed from the frontmatter. */
export function toManifest(skill: Skill): Record<string, unknown> {
  const { manifest, name, namespace } = skill;
  return manifest === undefined ? fromFrontmatter(skill) : toJsonObject({ ...manifest, name, namespace });
}

function fromFrontmatter(skill: Skill): Record<string, unknown> {
  const { name, version, description, kind, namespace, tags, license, compatibility, allowedTools } = skill;
  const permissions = toDeclared(skill);
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

/** The permissions that `metadata` requests (CONTRACT C-1.4). */
function toDeclared(skill: Skill): Record<string, unknown> {
  const { network, secrets, project } = permissionsOf(skill);
  return {
    ...(network.length > 0 && { network }),
    ...(secrets.length > 0 && { secrets }),
    ...(project !== "none" && { project }),
  };
}
