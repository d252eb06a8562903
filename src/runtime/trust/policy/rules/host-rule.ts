import { isIPv4, isIPv6 } from "node:net";

/** Some hosts: of a policy, or one entry of what a skill asks for. What is undefined is any. */
interface Hosts {
  readonly scheme: string | undefined;
  readonly port: string | undefined;
  /** "" is any host. */
  readonly name: string;
  /** Only the subdomains of `name`. */
  readonly subdomains: boolean;
}

const form = /^(?:(https?):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^:/?#[\]@\s]*)(?::([1-9]\d{0,4}))?$/i;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const numberLike = /^(?:\d+|0x[0-9a-f]*)$/;
const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** Whether a policy's entry is valid. */
export function isHostRule(entry: string): boolean {
  return parseHosts(entry) !== undefined;
}

/** Whether a policy's entry allows all hosts of another entry, or of one that a skill asks for. Names are compared, not addresses. */
export function hostsContain(rule: string, asked: string): boolean {
  const [all, some] = [parseHosts(rule), parseHosts(asked)];
  if (all === undefined || some === undefined) return false;
  if (all.scheme !== undefined && all.scheme !== some.scheme) return false;
  if (all.port !== undefined && all.port !== some.port) return false;
  if (all.name === "") return true;
  if (!all.subdomains) return !some.subdomains && all.name === some.name;
  return some.name.endsWith(`.${all.name}`) || (some.subdomains && some.name === all.name);
}

/** Whether a policy's entry denies any host of what a skill asks for. What cannot be understood is denied. */
export function hostsOverlap(rule: string, asked: string): boolean {
  const [a, b] = [parseHosts(rule), parseHosts(asked)];
  if (a === undefined || b === undefined) return true;
  if (a.scheme !== undefined && b.scheme !== undefined && a.scheme !== b.scheme) return false;
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return false;
  if (a.name === "" || b.name === "") return true;
  if (!a.subdomains && !b.subdomains) return a.name === b.name;
  const isBelow = (name: string, { name: above, subdomains }: Hosts): boolean =>
    subdomains && name.endsWith(`.${above}`);
  return isBelow(a.name, b) || isBelow(b.name, a) || (a.subdomains && b.subdomains && a.name === b.name);
}

function parseHosts(entry: string): Hosts | undefined {
  if (entry === "*") return { scheme: undefined, port: undefined, name: "", subdomains: false };
  const [, scheme, wildcard, host = "", port] = form.exec(entry) ?? [];
  const name = canonicalName(host.toLowerCase());
  const subdomains = wildcard !== undefined;
  if (name === undefined || (subdomains && (isIPv4(name) || name.startsWith("[")))) return undefined;
  const lowerScheme = scheme?.toLowerCase();
  return { scheme: lowerScheme, port: port ?? defaultPorts[lowerScheme ?? ""], name, subdomains };
}

/** As the sandbox's proxy compares them: without a trailing dot, addresses in one form, nothing that merely resembles an address. */
function canonicalName(host: string): string | undefined {
  if (isIPv4(host)) return host;
  if (host.startsWith("[")) return isIPv6(host.slice(1, -1)) ? new URL(`http://${host}/`).hostname : undefined;
  const name = host.replace(/(?<=[^.])\.$/, "");
  const labels = name.split(".");
  const isName =
    name.length <= 253 && labels.every((part) => label.test(part)) && !numberLike.test(labels.at(-1) ?? "");
  return isName ? name : undefined;
}
