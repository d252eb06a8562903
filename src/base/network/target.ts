import { isIPv4, isIPv6 } from "node:net";

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
 * Parses a host of a URL: a name of ASCII letters, digits and hyphens, dotted decimal IPv4, or IPv6 in brackets without a zone.
 * Undefined for everything else that a resolver might accept as an address (`2130706433`, `0x7f.1`, `127.1`, `%31`, full-width
 * digits, a name that ends in a number), and for user information.
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
