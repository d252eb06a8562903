import { systemAddresses } from "../../base/network/reach.ts";
import {
  isLoopbackAddress,
  isPublicAddress,
  isReachableAddress,
  type CanonicalHost,
  type Target,
  canonicalAddress,
  canonicalHost,
  parseAuthority,
  toAuthority,
} from "../../base/network/address.ts";
import { SkillsError } from "../../base/errors.ts";

/** The rules for the hosts that may be contacted. */
export interface AddressRules {
  /** Returns the target of a URL. Throws ENDPOINT_UNREACHABLE if the text of the URL alone shows that it may not be contacted. */
  targetOf(url: URL): Target;
  /** Why no connection may be made to a target with these addresses; undefined if it may. */
  judge(target: Target, addresses: readonly string[]): string | undefined;
  /** Whether the user allowed this host although it may be private. All other hosts must be public. */
  isAllowed(target: Target): boolean;
}

export interface AddressOptions {
  /** Hosts with private addresses that the user allowed (`--allow-private`), with or without a port. */
  readonly allowPrivate: readonly string[];
  /** URLs that the user typed. Loopback hosts among them are allowed with exactly their port; a remote document cannot allow one. */
  readonly typed?: readonly string[];
  /** Returns the addresses of this machine. Default: those that the system reports. */
  readonly ownAddresses?: () => readonly string[];
}

/** Creates the rules. Throws INVALID_OPTIONS for an allowed entry that is not a host. */
export function addressRules(options: AddressOptions): AddressRules {
  const { allowPrivate, typed = [], ownAddresses = systemAddresses } = options;
  const allowed = new Set([...allowPrivate.map(toEntry), ...typed.flatMap(loopbackEntry)]);
  const isAllowed = ({ host, port }: Target): boolean => allowed.has(host.text) || allowed.has(`${host.text}:${port}`);

  const judge = (target: Target, addresses: readonly string[]): string | undefined => {
    const { host } = target;
    const canonical = addresses.map((address) => canonicalAddress(address));
    const all = (holds: (address: string) => boolean): boolean =>
      canonical.every((address) => address !== undefined && holds(address));
    if (!all(isReachableAddress)) return `${host.text} has an address that belongs to no host`;
    if (isAllowed(target))
      // Plain http is allowed to this machine only, so a local name must not resolve to another machine.
      return !isLocalName(host) || all(isLoopbackAddress) ? undefined : `${host.text} is not on this machine`;
    const own = ownAddresses();
    if (all((address) => isPublicAddress(address) && !own.includes(address))) return undefined;
    const verb = host.address === undefined ? "resolves to" : "is";
    return `${host.text} ${verb} a private address; if you trust it, allow it with --allow-private ${toAuthority(target)}`;
  };

  return {
    isAllowed,
    judge,
    targetOf(url) {
      const target = toTarget(url);
      if (target.scheme === "http" && !isLoopback(target.host))
        throw disallowedRequest(
          `${toAuthority(target)} is not asked over http, which anyone on the way can change; use https`,
        );
      const why = judge(target, target.host.address === undefined ? [] : [target.host.address]);
      if (why !== undefined) throw disallowedRequest(why);
      if (isLocalName(target.host) && !isAllowed(target))
        throw disallowedRequest(
          `${target.host.text} is this machine; if you trust the server there, allow it with --allow-private ${toAuthority(target)}`,
        );
      return target;
    },
  };
}

/** Returns the error for a request that the rules do not allow. `why` is a sentence without its full stop. */
export function disallowedRequest(why: string): SkillsError {
  return new SkillsError("ENDPOINT_UNREACHABLE", `${why}.`);
}

function toTarget(url: URL): Target {
  const scheme = url.protocol === "https:" ? "https" : url.protocol === "http:" ? "http" : undefined;
  const host = canonicalHost(url.hostname);
  if (scheme === undefined) throw disallowedRequest(`A URL with ${url.protocol} cannot be fetched; use https:`);
  if (host === undefined) throw disallowedRequest(`${JSON.stringify(url.hostname)} is not a valid host`);
  if (url.username !== "" || url.password !== "")
    throw disallowedRequest(`The URL of ${host.text} contains a user name or a password; remove it`);
  const port = url.port === "" ? { http: 80, https: 443 }[scheme] : Number(url.port);
  if (port === 0) throw disallowedRequest(`${host.text}:0 is not a valid port`);
  return { scheme, host, port };
}

function isLoopback(host: CanonicalHost): boolean {
  return isLocalName(host) || (host.address !== undefined && isLoopbackAddress(host.address));
}

function isLocalName({ text }: CanonicalHost): boolean {
  return text === "localhost" || text.endsWith(".localhost");
}

/** Returns `host` or `host:port` in canonical form. Throws INVALID_OPTIONS for text that is no host. */
function toEntry(text: string): string {
  const target = parseAuthority("https", text) ?? parseAuthority("https", `[${text}]`);
  if (target === undefined) {
    const message = `--allow-private ${JSON.stringify(text)} is not a host; write it as skills.example, 10.0.0.5:8443 or [fd00::5].`;
    throw new SkillsError("INVALID_OPTIONS", message);
  }
  return /:[0-9]+$/.test(text) && parseAuthority("https", text) !== undefined
    ? `${target.host.text}:${target.port}`
    : target.host.text;
}

function loopbackEntry(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const host = canonicalHost(url.hostname);
  if (host === undefined || !isLoopback(host) || !/^https?:$/.test(url.protocol)) return [];
  return [`${host.text}:${url.port === "" ? (url.protocol === "http:" ? 80 : 443) : url.port}`];
}
