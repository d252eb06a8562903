import { canonicalHost, parsePort } from "./canonical-host.ts";
import type { CanonicalHost } from "./canonical-host.ts";

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
export function toEntry(target: Target): string {
  return `${target.scheme}://${toAuthority(target)}`;
}
