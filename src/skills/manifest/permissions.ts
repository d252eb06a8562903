import type { ValueFault } from "../rules/check-frontmatter.ts";
import type { Skill } from "../skill.ts";

/** What the code of a skill requests beyond the defaults of its sandbox (C-1.4). */
export interface Permissions {
  /** Origins, such as `https://*.example.org`. */
  readonly network: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  readonly project: "none" | "read" | "write";
  /** "none": its code runs without a sandbox. */
  readonly isolation?: "none";
}

/** Whether code with these permissions needs more than its sandbox. */
export function needsGrant({ network, secrets, project, isolation }: Permissions): boolean {
  return network.length > 0 || secrets.length > 0 || project !== "none" || isolation !== undefined;
}

/**
 * The permissions in `skill.toml`, or in the `acp-skills-…` metadata (CONTRACT C-1.4). Default: none. Those of a skill that runs on another
 * machine are what reaching it takes.
 */
export function permissionsOf({ manifest, metadata }: Pick<Skill, "manifest" | "metadata">): Permissions {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { remote } = manifest;
  if (remote !== undefined) {
    const { endpoint, secret } = remote;
    return { network: [originOf(endpoint)], secrets: secret === undefined ? [] : [secret], project: "none" };
  }
  const { network = [], secrets = [], project = "none", isolation } = manifest.permissions ?? {};
  return { network, secrets, project, ...(isolation !== undefined && { isolation }) };
}

/**
 * The permissions that a skill without a `skill.toml` requests in its `acp-skills-…` metadata. Invalid entries are ignored and
 * reported.
 */
export function readMetadataPermissions(
  metadata: Readonly<Record<string, string>>,
  report?: (fault: ValueFault) => void,
): Permissions {
  const fault = (child: string, what: string, fix: string): void => {
    const message = `metadata.${child}: ${what}; it is ignored`;
    report?.({ code: "metadata-permission-invalid", key: "metadata", child, message, fix });
  };
  const words = (child: string, shape: RegExp, explain: typeof explainNetworkEntry): string[] =>
    metadata[child]?.split(/\s+/).filter((word) => {
      const isRight = shape.test(word);
      const { what, fix } = explain(word);
      if (!isRight && word !== "") fault(child, what, `${fix} Separate entries with spaces.`);
      return isRight;
    }) ?? [];
  const project = metadata["acp-skills-project"]?.trim() ?? "none";
  const isProject = project === "none" || project === "read" || project === "write";
  if (!isProject) {
    fault("acp-skills-project", `${JSON.stringify(project)} is not none, read or write`, "Write none, read or write.");
  }
  const isolation = metadata["acp-skills-isolation"]?.trim();
  if (isolation === "none") report?.({ key: "metadata", child: "acp-skills-isolation", ...withoutSandbox });
  else if (isolation !== undefined) {
    fault("acp-skills-isolation", `${JSON.stringify(isolation)} is not none`, "Write none, or remove it.");
  }
  return {
    network: words("acp-skills-network", networkEntry, explainNetworkEntry),
    secrets: words("acp-skills-secrets", secretName, (word) => ({
      what: `${JSON.stringify(word)} is not a valid secret name`,
      fix: "Use letters, digits and underscores, such as API_KEY.",
    })),
    project: isProject ? project : "none",
    ...(isolation === "none" && { isolation }),
  };
}

/** The finding about a skill that requests `isolation = "none"`. */
export const withoutSandbox = {
  code: "isolation-none",
  message: "the skill asks to run without a sandbox, with all rights of its user",
  fix: "Remove isolation if the code works in the sandbox; request network, secrets or project instead.",
} as const;

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
/** The last label must not be a number, because such a name is an IPv4 address in a legacy notation. */
const name = `(?!(?:[^:]*\\.)?(?:[0-9]+|0x[0-9a-f]*)(?::|$))${label}(?:\\.${label})*`;
const addressOrigin = `https?://(?:${octet}(?:\\.${octet}){3}|\\[[0-9a-f:]+\\])`;
const port = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]";

/**
 * `https://host` or `https://*.host`, optionally with a port from 1 to 65535; for IP addresses also
 * `http://127.0.0.1:8080`.
 */
export const networkEntry = new RegExp(`^(?:https://(?:\\*\\.)?${name}|${addressOrigin})(?::(?:${port}))?$`);
/** Where a skill can be invoked: `https://host/path`, for IP addresses also `http://127.0.0.1:8080/path`. */
export const endpointUrl = new RegExp(
  `^(?:https://${name}|${addressOrigin})(?::(?:${port}))?(?:[/?][!"$-~]{0,2048})?$`,
);

/** The entry of `permissions.network` that allows to reach an endpoint. */
function originOf(endpoint: string): string {
  return /^https?:\/\/[^/?]*/.exec(endpoint)?.[0] ?? endpoint;
}
export const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** The error in an entry of `permissions.network`, and its fix. */
export function explainNetworkEntry(entry: unknown): { readonly what: string; readonly fix: string } {
  const shown = JSON.stringify(entry);
  if (typeof entry === "string" && networkEntry.test(entry.replace(/:[0-9]+$/, ""))) {
    return { what: `${shown} has a port outside 1-65535`, fix: "Use a port from 1 to 65535, or none." };
  }
  return { what: `${shown} is not a valid host`, fix: "Use the form https://host or https://*.host." };
}
