import { isNetworkEntry, isSecretName } from "../skills/manifest.ts";
import type { Skill } from "../skills/skill.ts";

/** What a skill's code asks for besides its sandbox (CONTRACT C-1.4). */
export interface Permissions {
  /** Such as `https://*.example.org`. */
  readonly network: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  readonly project: "none" | "read" | "write";
}

/** Of `skill.toml`, or of the `acp-skills-…` metadata; whoever declares nothing gets nothing. */
export function permissionsOf({ manifest, metadata }: Skill): Permissions {
  if (manifest !== undefined) {
    const { network = [], secrets = [], project = "none" } = manifest.permissions ?? {};
    return { network, secrets, project };
  }
  const project = metadata["acp-skills-project"]?.trim();
  return {
    network: words(metadata["acp-skills-network"]).filter(isNetworkEntry),
    secrets: words(metadata["acp-skills-secrets"]).filter(isSecretName),
    project: project === "read" || project === "write" ? project : "none",
  };
}

function words(text = ""): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
