import { BlockList, isIPv4, isIPv6 } from "node:net";

export type Scheme = "http" | "https";

const defaultPorts: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/** The destination of a request. */
export interface Target {
  readonly scheme: Scheme;
  readonly host: CanonicalHost;
  readonly port: number;
}

const hostAndPort = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s;

/** Parses `host` or `host:port`, with brackets around IPv6. */
export function parseAuthority(scheme: Scheme, text: string): Target | undefined {
  const [, hostText = "", portText] = hostAndPort.exec(text) ?? [];
  const host = canonicalHost(hostText);
  const port = portText === undefined ? defaultPorts[scheme] : parsePort(portText);
  return host === undefined || port === undefined ? undefined : { scheme, host, port };
}

/** Parses the target of a CONNECT, which always has a port. */
export function parseConnectTarget(text: string): Target | undefined {
  return /:[0-9]+$/.test(text) ? parseAuthority("https", text) : undefined;
}

const absoluteForm = /^http:\/\/([^/?#]*)((?:[/?][^#]*)?)$/is;

/** Parses the absolute form of a plain request. */
export function parseAbsoluteForm(url: string): { readonly target: Target; readonly path: string } | undefined {
  const [, authority = "", path = ""] = absoluteForm.exec(url) ?? [];
  const target = parseAuthority("http", authority);
  return target === undefined ? undefined : { target, path: path.startsWith("/") ? path : `/${path}` };
}

/** `host`, or `host:port` if the port is not the default. */
export function toAuthority({ scheme, host, port }: Target): string {
  return port === defaultPorts[scheme] ? host.text : `${host.text}:${port}`;
}

/** The entry of `permissions.network` that names exactly this target. */
export function toNetworkPermission(target: Target): string {
  return `${target.scheme}://${toAuthority(target)}`;
}

/** A host in canonical form; `address` if it is an IP address, without brackets. */
export interface CanonicalHost {
  readonly text: string;
  readonly address?: string;
}

const label = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const numberLike = /^(?:[0-9]+|0x[0-9a-f]*)$/i;

/**
 * Parses the host of a URL: a name of ASCII letters, digits and hyphens, dotted decimal IPv4, or IPv6 in brackets without a zone. Returns
 * undefined for user information, and for all other forms that a resolver might accept as an address: `2130706433`, `0x7f.1`, `127.1`,
 * `%31`, full-width digits, a name that ends in a number.
 */
export function canonicalHost(text: string): CanonicalHost | undefined {
  if (isIPv4(text)) return { text, address: text };
  if (text.startsWith("[") && text.endsWith("]")) {
    const address = canonicalAddress(text.slice(1, -1));
    return address === undefined || isIPv4(address) ? undefined : { text: `[${address}]`, address };
  }
  // A trailing dot does not change the name.
  const name = text.replace(/(?<=[^.])\.$/, "");
  const labels = name.split(".");
  if (name.length > 253 || !labels.every((part) => label.test(part)) || numberLike.test(labels.at(-1) ?? "")) {
    return undefined;
  }
  // After the check: some non-ASCII letters become ASCII in lower case.
  return { text: name.toLowerCase() };
}

/** An IP address in canonical form; undefined if it is invalid or has a zone. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

/** A port in decimal, without leading zeros. */
function parsePort(text: string): number | undefined {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}

/** Special-purpose IPv4 addresses (IANA registry), and the addresses of cloud metadata services. */
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
 * The public range: global unicast addresses, except protocol assignments such as Teredo, documentation and 6to4. Loopback, IPv4-mapped,
 * IPv4-compatible, NAT64, unique local, link-local and multicast addresses are not public.
 */
const globalIPv6 = "2000::/3";
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const unreachable = ["0.0.0.0/32", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"];

const special = toBlockList([...specialIPv4, ...specialIPv6]);
const globalUnicast = toBlockList([globalIPv6]);
const nobody = toBlockList(unreachable);
const loopback = toBlockList(["127.0.0.0/8", "::1/128"]);

/** Whether an address is public; false for an invalid one. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Whether an address can belong to one host: not unspecified (which the system treats as loopback), broadcast or multicast. */
export function isReachableAddress(address: string): boolean {
  return !nobody.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** Whether an address is a loopback address. False for IPv4-mapped addresses. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6") && !address.toLowerCase().startsWith("::ffff:");
}

function toBlockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", prefix] = subnet.split("/");
    list.addSubnet(network, Number(prefix), isIPv4(network) ? "ipv4" : "ipv6");
  }
  return list;
}

/** The network that an address belongs to: the first 64 bits for IPv6, the address itself for IPv4. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  return (address.split("::")[0]?.split(":") ?? []).slice(0, 4).join(":");
}
