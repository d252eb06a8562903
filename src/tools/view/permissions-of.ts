import { readMetadataPermissions } from "../../skills/manifest/metadata-permissions.ts";
import type { Permissions } from "../../skills/manifest/metadata-permissions.ts";
import type { Skill } from "../../skills/skill.ts";

/** Of `skill.toml`, or of the `acp-skills-…` metadata (CONTRACT C-1.4); whoever declares nothing gets nothing. */
export function permissionsOf({ manifest, metadata }: Skill): Permissions {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { network = [], secrets = [], project = "none" } = manifest.permissions ?? {};
  return { network, secrets, project };
}
