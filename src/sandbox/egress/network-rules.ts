import { BlockList, isIPv4, isIPv6 } from "node:net";
import { SkillsError } from "../../errors.ts";
import { parseAuthority, toEntry } from "./target.ts";
import type { Target } from "./target.ts";

/** One entry of `permissions.network` (C-1.4). */
export interface NetworkRule {
  readonly target: Target;
  /** Subdomains of `target` only, not that host itself. */
  readonly subdomains: boolean;
}

const entryShape = /^(https?):\/\/(\*\.)?([^/?#]*)$/i;

/** Parses an entry: `https://host` or `https://*.host`, with `http://` too, an optional port, or an IP address as host. */
export function parseNetworkRule(entry: string): NetworkRule | undefined {
  const [, scheme, wildcard, authority = ""] = entryShape.exec(entry) ?? [];
  const target = parseAuthority(scheme?.toLowerCase() === "http" ? "http" : "https", authority);
  if (target === undefined) return undefined;
  const subdomains = wildcard !== undefined;
  const { address } = target.host;
  if (address !== undefined && (subdomains || !isReachableAddress(address))) return undefined;
  return { target, subdomains };
}

/** Throws INVALID_OPTIONS with all invalid entries: a run must not start with fewer than it was granted. */
export function parseNetworkRules(entries: readonly string[]): NetworkRule[] {
  const rules = entries.map((entry) => ({ entry, rule: parseNetworkRule(entry) }));
  const faulty = rules.filter(({ rule }) => rule === undefined).map(({ entry }) => entry);
  if (faulty.length > 0) {
    const shown = faulty.map((entry) => JSON.stringify(entry)).join(", ");
    throw new SkillsError(
      "INVALID_OPTIONS",
      `Not an entry of permissions.network: ${shown}. Write https://host, https://*.host or http://127.0.0.1:8080.`,
      { facts: { entries: faulty } },
    );
  }
  return rules.flatMap(({ rule }) => rule ?? []);
}

export type Judgement = { readonly allowed: true } | { readonly allowed: false; readonly why: string };

/** Whether an entry allows the target; if not, which entry would. */
export function judge(rules: readonly NetworkRule[], target: Target): Judgement {
  if (rules.some((rule) => matches(rule, target))) return { allowed: true };
  const { address } = target.host;
  if (address !== undefined && !isReachableAddress(address)) {
    return { allowed: false, why: `${target.host.text} is not the address of a single host` };
  }
  const why = address !== undefined && !isPublicAddress(address) ? "names a private address; " : "";
  return { allowed: false, why: `${why}needs the entry ${toEntry(target)} in permissions.network` };
}

function matches({ target: rule, subdomains }: NetworkRule, target: Target): boolean {
  if (rule.scheme !== target.scheme || rule.port !== target.port) return false;
  if (!subdomains) return rule.host.text === target.host.text;
  return target.host.address === undefined && target.host.text.endsWith(`.${rule.host.text}`);
}

/** Special-purpose IPv4 addresses (IANA registry), and those of cloud metadata services. */
const specialIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * Only global unicast addresses are public, except protocol assignments such as Teredo, documentation and 6to4. So loopback,
 * IPv4-mapped, IPv4-compatible, NAT64, unique local, link-local and multicast addresses are not.
 */
const globalIPv6 = "2000::/3";
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const unreachable = ["0.0.0.0/32", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"];

const special = toBlockList([...specialIPv4, ...specialIPv6]);
const globalUnicast = toBlockList([globalIPv6]);
const nobody = toBlockList(unreachable);

/** Whether an address is public; false for an invalid one. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Whether an address can be of one host: not unspecified (which the system treats as loopback), broadcast or multicast. */
export function isReachableAddress(address: string): boolean {
  return !nobody.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function toBlockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", prefix] = subnet.split("/");
    list.addSubnet(network, Number(prefix), isIPv4(network) ? "ipv4" : "ipv6");
  }
  return list;
}
