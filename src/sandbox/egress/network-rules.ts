import { SkillsError } from "../../errors.ts";
import { isPublicAddress, isReachableAddress } from "./public-address.ts";
import { parseAuthority, toEntry } from "./target.ts";
import type { Target } from "./target.ts";

/** What one entry of `permissions.network` lets through (C-1.4). */
export interface NetworkRule {
  readonly target: Target;
  /** The hosts below `target`, never that host itself. */
  readonly subdomains: boolean;
}

const entryShape = /^(https?):\/\/(\*\.)?([^/?#]*)$/i;

/** Reads an entry: `https://host`, `https://*.host`, each with a port if need be, likewise `http://`, or a literal address. */
export function parseNetworkRule(entry: string): NetworkRule | undefined {
  const [, scheme, wildcard, authority = ""] = entryShape.exec(entry) ?? [];
  const target = parseAuthority(scheme?.toLowerCase() === "http" ? "http" : "https", authority);
  if (target === undefined) return undefined;
  const subdomains = wildcard !== undefined;
  const { address } = target.host;
  if (address !== undefined && (subdomains || !isReachableAddress(address))) return undefined;
  return { target, subdomains };
}

/** All entries, or a SkillsError INVALID_OPTIONS that lists those that are none: a run is not started with fewer than it was granted. */
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

/** Whether an entry lets the target through, and if none does, which one would. */
export function judge(rules: readonly NetworkRule[], target: Target): Judgement {
  if (rules.some((rule) => matches(rule, target))) return { allowed: true };
  const { address } = target.host;
  if (address !== undefined && !isReachableAddress(address)) {
    return { allowed: false, why: `${target.host.text} is not the address of a host` };
  }
  const why = address !== undefined && !isPublicAddress(address) ? "names a private address; " : "";
  return { allowed: false, why: `${why}needs the entry ${toEntry(target)} in permissions.network` };
}

function matches({ target: rule, subdomains }: NetworkRule, target: Target): boolean {
  if (rule.scheme !== target.scheme || rule.port !== target.port) return false;
  if (!subdomains) return rule.host.text === target.host.text;
  return target.host.address === undefined && target.host.text.endsWith(`.${rule.host.text}`);
}
