import { readMetadataPermissions } from "./metadata-permissions.ts";
import type { Permissions } from "./metadata-permissions.ts";
import type { Skill } from "../skill.ts";

/** Of `skill.toml`, or of the `acp-skills-…` metadata (CONTRACT C-1.4); whoever declares nothing gets nothing. */
export function permissionsOf({ manifest, metadata }: Skill): Permissions {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { network = [], secrets = [], project = "none" } = manifest.permissions ?? {};
  return { network, secrets, project };
}
