import type { Skill } from "./skill.ts";
import type { ValueFault } from "./manifest/check-document.ts";
import {
  type SecretHeader,
  fromUse,
  headerOfSecret,
  namesAndUses,
  secretHostFault,
  secretName,
} from "./permissions/secret-use.ts";

export { type SecretHeader, credentialHeader, fromUse, targetOfSecretHost } from "./permissions/secret-use.ts";
export { inOnePhrase, inShort, inWords, listed, permissionWords, shortPhrases } from "./permissions/in-words.ts";

/** The capabilities that a skill can request, or be granted, beyond the defaults of its sandbox. Lists have no order. */
export interface Capabilities {
  /** Origins, such as `https://*.example.org`. */
  readonly network: readonly string[];
  /** The names of secrets whose values the skill's code reads. */
  readonly secrets: readonly string[];
  /** Secrets that acp-skills sends to a host for the code, which never has their values: `GH_TOKEN@api.github.com`. Absent: none. */
  readonly uses?: readonly string[];
  /** "write" includes "read". */
  readonly project: "none" | "read" | "write";
  /** "none": the skill's code runs without a sandbox. */
  readonly isolation?: "none";
}

/**
 * The permissions in `skill.toml`, or in the `acp-skills-…` metadata. Default: none. For a skill that runs on another machine, they are
 * those needed to reach it.
 */
export function permissionsOf({ manifest, metadata }: Pick<Skill, "manifest" | "metadata">): Capabilities {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { remote } = manifest;
  if (remote !== undefined) {
    const { endpoint, secret } = remote;
    const origin = endpoint.replace(/^(https?:\/\/[^/?]*).*$/, "$1");
    return { network: [origin], secrets: secret === undefined ? [] : [secret], project: "none" };
  }
  const { network = [], secrets: declared = [], project = "none", isolation } = manifest.permissions ?? {};
  return onlyCapabilities({ network, ...namesAndUses(declared), project, ...(isolation && { isolation }) });
}

/** The header in which acp-skills sends a secret for a skill. */
export function secretHeaderOf({ manifest }: Pick<Skill, "manifest">, name: string): SecretHeader {
  return headerOfSecret(manifest?.permissions?.secrets ?? [], name);
}

/**
 * The permissions that a skill without a `skill.toml` requests in its `acp-skills-…` metadata. Invalid entries are ignored and
 * reported.
 */
export function readMetadataPermissions(
  metadata: Readonly<Record<string, string>>,
  report?: (fault: ValueFault) => void,
): Capabilities {
  const fault = (child: string, what: string, fix: string): void => {
    const message = `metadata.${child}: ${what}; it is ignored`;
    report?.({ code: "metadata-permission-invalid", key: "metadata", child, message, fix });
  };
  const words = (child: string, explain: (word: string) => ReturnType<typeof secretHostFault>): string[] =>
    metadata[child]?.split(/\s+/).filter((word) => {
      const wrong = explain(word);
      if (wrong !== undefined && word !== "") fault(child, wrong.what, `${wrong.fix} Separate entries with spaces.`);
      return wrong === undefined;
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
  const secrets = words("acp-skills-secrets", metadataSecretFault);
  const uses = secrets.filter((word) => word.includes("@"));
  return {
    network: words("acp-skills-network", (word) => (networkEntry.test(word) ? undefined : explainNetworkEntry(word))),
    secrets: secrets.filter((word) => !word.includes("@")),
    ...(uses.length > 0 && { uses }),
    project: isProject ? project : "none",
    ...(isolation === "none" && { isolation }),
  };
}

/** Finds the fault of a word of `acp-skills-secrets`: `NAME`, or `NAME@HOST` for a secret that is sent to that host. */
function metadataSecretFault(word: string): ReturnType<typeof secretHostFault> {
  const { name, host } = word.includes("@") ? fromUse(word) : { name: word, host: undefined };
  if (!secretName.test(name))
    return {
      what: `${JSON.stringify(name)} is not a valid secret name`,
      fix: "Use letters, digits and underscores, such as API_KEY.",
    };
  return host === undefined ? undefined : secretHostFault(host);
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
/** The URL at which a skill can be invoked: `https://host/path`, for IP addresses also `http://127.0.0.1:8080/path`. */
export const endpointUrl = new RegExp(
  `^(?:https://${name}|${addressOrigin})(?::(?:${port}))?(?:[/?][!"$-~]{0,2048})?$`,
);

/** The error in an entry of `permissions.network`, and its fix. */
export function explainNetworkEntry(entry: unknown): { readonly what: string; readonly fix: string } {
  const fix = "Use the form https://host or https://*.host, with a port from 1 to 65535 or none.";
  return { what: `${JSON.stringify(entry)} is not a valid host`, fix };
}

/** Selects the fields of an object that are capabilities, in the form in which they are stored. */
export function onlyCapabilities({ network, secrets, uses = [], project, isolation }: Capabilities): Capabilities {
  return {
    network,
    secrets,
    ...(uses.length > 0 && { uses }),
    project,
    ...(isolation !== undefined && { isolation }),
  };
}

export const noCapabilities: Capabilities = Object.freeze({
  network: Object.freeze([]),
  secrets: Object.freeze([]),
  project: "none",
});

export function isNothing({ network, secrets, uses = [], project, isolation }: Capabilities): boolean {
  const isListed = network.length + secrets.length + uses.length > 0;
  return !isListed && project === "none" && isolation === undefined;
}

const access: readonly Capabilities["project"][] = ["none", "read", "write"];

/** The capabilities in `wanted` that are not in `granted`. */
export function beyond(granted: Capabilities, wanted: Capabilities): Capabilities {
  const isWider = access.indexOf(wanted.project) > access.indexOf(granted.project);
  const uses = (wanted.uses ?? []).filter((use) => granted.uses?.includes(use) !== true);
  return {
    network: wanted.network.filter((host) => !granted.network.includes(host)),
    secrets: wanted.secrets.filter((name) => !granted.secrets.includes(name)),
    ...(uses.length > 0 && { uses }),
    project: isWider ? wanted.project : "none",
    ...(wanted.isolation !== undefined && granted.isolation === undefined && { isolation: wanted.isolation }),
  };
}

/** Whether all wanted capabilities were granted. */
export function covers(granted: Capabilities, wanted: Capabilities): boolean {
  return isNothing(beyond(granted, wanted));
}

/** The union of capabilities. */
export function together(all: readonly Capabilities[]): Capabilities {
  const union = (list: "network" | "secrets" | "uses"): readonly string[] => [
    ...new Set(all.flatMap((one) => one[list] ?? [])),
  ];
  const uses = union("uses");
  const most = (["write", "read"] as const).find((access) => all.some(({ project }) => project === access));
  return {
    network: union("network"),
    secrets: union("secrets"),
    ...(uses.length > 0 && { uses }),
    project: most ?? "none",
    ...(all.some(({ isolation }) => isolation !== undefined) && { isolation: "none" as const }),
  };
}
