import { counted } from "../base/text/code-points.ts";
import { quoted } from "../base/text/quoted.ts";
import type { Skill } from "./skill.ts";
import type { ValueFault } from "./manifest/check-document.ts";

/** What a skill can request, or be allowed, beyond the defaults of its sandbox. Lists have no order. */
export interface Capabilities {
  /** Origins, such as `https://*.example.org`. */
  readonly network: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  /** "write" includes "read". */
  readonly project: "none" | "read" | "write";
  /** "none": its code runs without a sandbox. */
  readonly isolation?: "none";
}

/**
 * The permissions in `skill.toml`, or in the `acp-skills-…` metadata. Default: none. Those of a skill that runs on another
 * machine are what reaching it takes.
 */
export function permissionsOf({ manifest, metadata }: Pick<Skill, "manifest" | "metadata">): Capabilities {
  if (manifest === undefined) return readMetadataPermissions(metadata);
  const { remote } = manifest;
  if (remote !== undefined) {
    const { endpoint, secret } = remote;
    const origin = endpoint.replace(/^(https?:\/\/[^/?]*).*$/, "$1");
    return { network: [origin], secrets: secret === undefined ? [] : [secret], project: "none" };
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
): Capabilities {
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

export const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** The name of a header with credentials, in lower case; none of a connection's or a body's, and no cookie. */
export const credentialHeader =
  /^(?!(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|cookie|proxy-.*|accept.*)$)[a-z0-9-]{1,64}$/;

/** The error in an entry of `permissions.network`, and its fix. */
export function explainNetworkEntry(entry: unknown): { readonly what: string; readonly fix: string } {
  const fix = "Use the form https://host or https://*.host, with a port from 1 to 65535 or none.";
  return { what: `${JSON.stringify(entry)} is not a valid host`, fix };
}

export const noCapabilities: Capabilities = Object.freeze({
  network: Object.freeze([]),
  secrets: Object.freeze([]),
  project: "none",
});

export function isNothing({ network, secrets, project, isolation }: Capabilities): boolean {
  return network.length === 0 && secrets.length === 0 && project === "none" && isolation === undefined;
}

const access: readonly Capabilities["project"][] = ["none", "read", "write"];

/** What `wanted` has beyond `granted`. */
export function beyond(granted: Capabilities, wanted: Capabilities): Capabilities {
  const isWider = access.indexOf(wanted.project) > access.indexOf(granted.project);
  return {
    network: wanted.network.filter((host) => !granted.network.includes(host)),
    secrets: wanted.secrets.filter((name) => !granted.secrets.includes(name)),
    project: isWider ? wanted.project : "none",
    ...(wanted.isolation !== undefined && granted.isolation === undefined && { isolation: wanted.isolation }),
  };
}

/** Whether everything that is wanted was granted. */
export function covers(granted: Capabilities, wanted: Capabilities): boolean {
  return isNothing(beyond(granted, wanted));
}

/** Everything that any of these has. */
export function together(all: readonly Capabilities[]): Capabilities {
  const union = (list: "network" | "secrets"): readonly string[] => [...new Set(all.flatMap((one) => one[list]))];
  const most = (["write", "read"] as const).find((access) => all.some(({ project }) => project === access));
  return {
    network: union("network"),
    secrets: union("secrets"),
    project: most ?? "none",
    ...(all.some(({ isolation }) => isolation !== undefined) && { isolation: "none" as const }),
  };
}

/** How many names of a kind are listed: a long list must not hide the kinds behind it. */
const fewNames = 6;

/** `may connect to api.example.com`, `may read the secret API_KEY` …, in full, the most dangerous first; empty for none. */
export function inWords({ network, secrets, project, isolation }: Capabilities, names = listed): readonly string[] {
  return [
    ...(isolation === undefined ? [] : ["may run without a sandbox, with all your rights"]),
    ...(project === "none" ? [] : [`may ${project === "write" ? "change" : "read"} the project's files`]),
    ...(secrets.length === 0
      ? []
      : [`may read the secret${secrets.length > 1 ? "s" : ""} ${names(secretsOf(secrets))}`]),
    ...(network.length === 0 ? [] : [`may connect to ${names(hostsOf(network))}`]),
  ];
}

/** Some editors show no more of a title. */
const shownLength = 38;

/** What a skill may do, in one text: `2 secrets, 8 hosts (API_KEY and DB_KEY; api.example.com …)`. */
export function inShort(capabilities: Capabilities): string {
  const { shown, names } = shortParts(capabilities);
  return names === "" ? shown : `${shown} (${names})`;
}

/**
 * What a skill may do, for a title that may be cut off: secrets and hosts first. `shown`: `secret API_KEY, host api.example.com`, or numbers where the
 * names do not fit, `2 secrets, 8 hosts`; then `names` has them: `API_KEY and DB_KEY; api.example.com …`.
 */
export function shortParts({ network, secrets, project, isolation }: Capabilities): {
  readonly shown: string;
  readonly names: string;
} {
  const hosts = hostsOf(network).map(shortName);
  const keys = secretsOf(secrets).map(shortName);
  const kinds = (key: string, host: string): string =>
    [
      ...(isolation === undefined ? [] : ["all your rights"]),
      ...(keys.length === 0 ? [] : [key]),
      ...(hosts.length === 0 ? [] : [host]),
      ...(project === "none" ? [] : [project === "write" ? "file changes" : "file reading"]),
    ].join(", ");
  const named = kinds(`secret ${listed(keys)}`, `host ${listed(hosts)}`);
  const isShort = keys.length < 2 && hosts.length < 2 && named.length <= shownLength;
  const names = [
    ...(isShort || keys.length === 0 ? [] : [listed(keys, fewNames)]),
    ...(isShort || hosts.length === 0 ? [] : [listed(hosts, fewNames)]),
  ];
  const shown = isShort ? named : kinds(counted(keys.length, "secret"), counted(hosts.length, "host"));
  return { shown, names: names.join("; ") };
}

/** Capabilities as one phrase, of bounded length: `read the secret API_KEY and connect to api.example.com`. */
export function inOnePhrase(capabilities: Capabilities): string {
  const short = (names: readonly string[]): string => listed(names.map(shortName), fewNames);
  return listed(inWords(capabilities, short).map((words) => words.replace(/^may /, "")));
}

/** As a person reads them, the worst first. */
function secretsOf(secrets: readonly string[]): readonly string[] {
  return secrets.toSorted((a, b) => secretRank(a) - secretRank(b)).map((name) => quoted(name, { longest: Infinity }));
}

/** HTTPS is the rule, and is not repeated. */
function hostsOf(network: readonly string[]): readonly string[] {
  return network
    .toSorted((a, b) => hostRank(a) - hostRank(b))
    .map((origin) => quoted(origin.replace(/^https:\/\//, ""), { longest: Infinity }));
}

/** What opens most by its name; which secrets there are is up to the person, so that a skill cannot push it back with invented ones. */
function secretRank(name: string): number {
  return [/PRIVATE|ROOT|ADMIN|MASTER|PROD/i, /SECRET|PASS/i, /KEY|TOKEN|CREDENTIAL/i, /./].findIndex((form) =>
    form.test(name),
  );
}

/** All hosts below few labels first, then addresses of this machine and its network, then the others. */
function hostRank(origin: string): number {
  if (origin.includes("*.")) return origin.split(".").length;
  return /^https?:\/\/(?:[0-9.]+|\[[0-9a-f:]+\])(?::|$)/.test(origin) ? 1_000 : 2_000;
}

/** With both ends: that of a host says whose it is. */
function shortName(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= 80) return name;
  return `${characters.slice(0, 30).join("")}…${characters.slice(-49).join("")}`;
}

/** `A, B and C`; beyond `most`, `A, B and 7 more`. */
export function listed(names: readonly string[], most = Infinity): string {
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** Each permission that a skill requests, as it declares it: `network https://api.example.com`, `secret API_KEY`, `project read`. */
export function permissionWords({ network, secrets, project, isolation }: Capabilities): string[] {
  return [
    ...network.map((host) => `network ${host}`),
    ...secrets.map((name) => `secret ${name}`),
    ...(project === "none" ? [] : [`project ${project}`]),
    ...(isolation === undefined ? [] : ["isolation none: runs without a sandbox"]),
  ];
}
