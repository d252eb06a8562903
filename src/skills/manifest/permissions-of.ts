import { readMetadataPermissions } from "./metadata-permissions.ts";
import type { Permissions } from "./metadata-permissions.ts";
import type { Skill } from "../skill.ts";

/** The permissions in `skill.toml`, or in the `acp-skills-…` metadata (CONTRACT C-1.4). Default: none. */
export function permissionsOf({ manifest, metadata }: Skill): Permissions {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { network = [], secrets = [], project = "none" } = manifest.permissions ?? {};
  return { network, secrets, project };
}
