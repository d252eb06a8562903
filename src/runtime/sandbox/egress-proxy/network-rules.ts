import { isPublicAddress, isReachableAddress } from "../../../base/network/address.ts";
import { type Target, parseAuthority, toNetworkPermission } from "../../../base/network/target.ts";
import { SkillsError } from "../../../base/errors.ts";

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
  return { allowed: false, why: `${why}needs the entry ${toNetworkPermission(target)} in permissions.network` };
}

function matches({ target: rule, subdomains }: NetworkRule, target: Target): boolean {
  if (rule.scheme !== target.scheme || rule.port !== target.port) return false;
  if (!subdomains) return rule.host.text === target.host.text;
  return target.host.address === undefined && target.host.text.endsWith(`.${rule.host.text}`);
}
