import { counted } from "../../base/text/code-points.ts";
import { quoted } from "../../base/text/quoted.ts";
import type { Capabilities } from "../permissions.ts";
import { fromUse } from "./secret-use.ts";

/** The maximum number of names of a kind: a long list must not hide the kinds after it. */
const fewNames = 6;

/** Capabilities in full, the most dangerous first: `may connect to api.example.com`, `can read the value of API_KEY` …; empty for none. */
export function inWords(
  { network, secrets, uses = [], project, isolation }: Capabilities,
  names = listed,
): readonly string[] {
  return [
    ...(isolation === undefined ? [] : ["may run without a sandbox, with all your rights"]),
    ...(project === "none" ? [] : [`may ${project === "write" ? "change" : "read"} the project's files`]),
    ...(secrets.length === 0
      ? []
      : [`can read the value${secrets.length > 1 ? "s" : ""} of ${names(secretsOf(secrets))}`]),
    ...hostsBySecret(uses).map(({ name, hosts }) => `can use ${names([name])} with ${names(hosts)}`),
    ...(network.length === 0 ? [] : [`may connect to ${names(hostsOf(network))}`]),
  ];
}

/** The maximum length of a title: some editors show no more. */
const shownLength = 38;

/** Capabilities in one short text: `2 secrets, 8 hosts (API_KEY and DB_KEY; api.example.com …)`. */
export function inShort(capabilities: Capabilities): string {
  const { shown, names } = shortPhrases(capabilities);
  return names === "" ? shown : `${shown} (${names})`;
}

/**
 * Capabilities for a title that may be cut off: secrets and hosts first. `shown`: `secret API_KEY, host api.example.com`, or numbers if
 * the names do not fit, `2 secrets, 8 hosts`; `names` contains the names then: `API_KEY and DB_KEY; api.example.com …`.
 */
export function shortPhrases({ network, secrets, uses = [], project, isolation }: Capabilities): {
  readonly shown: string;
  readonly names: string;
} {
  const hosts = hostsOf(network).map(shortName);
  const keys = secretsOf(secrets).map(shortName);
  const used = hostsBySecret(uses).map((use) => ({ name: shortName(use.name), hosts: use.hosts.map(shortName) }));
  const usedWords = used.map((use) => `${use.name} with ${listed(use.hosts, fewNames)}`);
  const kinds = (key: string, use: string, host: string): string =>
    [
      ...(isolation === undefined ? [] : ["all your rights"]),
      ...(keys.length === 0 ? [] : [key]),
      ...(used.length === 0 ? [] : [use]),
      ...(hosts.length === 0 ? [] : [host]),
      ...(project === "none" ? [] : [project === "write" ? "file changes" : "file reading"]),
    ].join(", ");
  const named = kinds(`secret ${listed(keys)}`, `use of ${usedWords.join()}`, `host ${listed(hosts)}`);
  const isShort =
    [keys, used, hosts, used[0]?.hosts ?? []].every((list) => list.length < 2) && named.length <= shownLength;
  const names = [
    ...(isShort || keys.length === 0 ? [] : [listed(keys, fewNames)]),
    ...(isShort || used.length === 0 ? [] : [listed(usedWords, fewNames)]),
    ...(isShort || hosts.length === 0 ? [] : [listed(hosts, fewNames)]),
  ];
  const shown = isShort
    ? named
    : kinds(counted(keys.length, "secret"), `use of ${counted(used.length, "secret")}`, counted(hosts.length, "host"));
  return { shown, names: names.join("; ") };
}

/** Capabilities as one phrase, of bounded length: `read the secret API_KEY and connect to api.example.com`. */
export function inOnePhrase(capabilities: Capabilities): string {
  const short = (names: readonly string[]): string => listed(names.map(shortName), fewNames);
  return listed(inWords(capabilities, short).map((words) => words.replace(/^(?:may|can) /, "")));
}

/** The names of secrets for display, the most dangerous first. */
function secretsOf(secrets: readonly string[]): readonly string[] {
  return secrets.toSorted((a, b) => secretRank(a) - secretRank(b)).map((name) => quoted(name, { maxLength: Infinity }));
}

/** The secrets that are sent, each with its hosts. */
function hostsBySecret(
  uses: readonly string[],
): readonly { readonly name: string; readonly hosts: readonly string[] }[] {
  const found = new Map<string, string[]>();
  for (const { name, host } of uses.map(fromUse)) found.set(name, [...(found.get(name) ?? []), host]);
  return [...found].map(([name, hosts]) => ({
    name: quoted(name, { maxLength: Infinity }),
    hosts: hosts.map((host) => quoted(host, { maxLength: Infinity })),
  }));
}

/** The hosts, the most dangerous first, without `https://`, which is the rule. */
function hostsOf(network: readonly string[]): readonly string[] {
  return network
    .toSorted((a, b) => hostRank(a) - hostRank(b))
    .map((origin) => quoted(origin.replace(/^https:\/\//, ""), { maxLength: Infinity }));
}

/** The rank of a secret: 0 if its name suggests the widest access. Only the user creates secrets, so invented names displace no others. */
function secretRank(name: string): number {
  return [/PRIVATE|ROOT|ADMIN|MASTER|PROD/i, /SECRET|PASS/i, /KEY|TOKEN|CREDENTIAL/i, /./].findIndex((form) =>
    form.test(name),
  );
}

/** The rank of a host: wildcards below few labels first, then addresses of this machine and its network, then all others. */
function hostRank(origin: string): number {
  if (origin.includes("*.")) return origin.split(".").length;
  return /^https?:\/\/(?:[0-9.]+|\[[0-9a-f:]+\])(?::|$)/.test(origin) ? 1_000 : 2_000;
}

/** Shortens a name in the middle, because the end of a host shows its owner. */
function shortName(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= 80) return name;
  return `${characters.slice(0, 30).join("")}…${characters.slice(-49).join("")}`;
}

/** Joins names: `A, B and C`; beyond `maxListed`, `A, B and 7 more`. */
export function listed(names: readonly string[], maxListed = Infinity): string {
  if (names.length > maxListed) return `${names.slice(0, maxListed).join(", ")} and ${names.length - maxListed} more`;
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** The permissions that a skill requests, as it declares them: `network https://api.example.com`, `secret API_KEY`, `project read`. */
export function permissionWords({ network, secrets, uses = [], project, isolation }: Capabilities): string[] {
  return [
    ...network.map((host) => `network ${host}`),
    ...secrets.map((name) => `secret ${name}`),
    ...hostsBySecret(uses).map(({ name, hosts }) => `secret ${name} only for ${listed(hosts)}`),
    ...(project === "none" ? [] : [`project ${project}`]),
    ...(isolation === undefined ? [] : ["isolation none: runs without a sandbox"]),
  ];
}
