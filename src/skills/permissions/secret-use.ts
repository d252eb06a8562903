import { domainToASCII, domainToUnicode } from "node:url";
import { isObject } from "../../base/json/json-value.ts";
import {
  type Target,
  isLoopbackAddress,
  isPublicAddress,
  parseAuthority,
  toAuthority,
} from "../../base/network/address.ts";

/** A secret as a manifest declares it: a name, which the code reads, or a table with the hosts to which the value is sent. */
export type DeclaredSecret =
  | string
  | {
      readonly name: string;
      readonly hosts?: readonly string[] | undefined;
      readonly header?: string | undefined;
      readonly scheme?: string | undefined;
      readonly expose?: boolean | undefined;
    };

export const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** The name of a header for credentials, in lower case; none that belongs to the connection, the body or cookies. */
export const credentialHeader =
  /^(?!(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|cookie|proxy-.*|accept.*)$)[a-z0-9-]{1,64}$/;
/** The word before the value in a header, such as `Bearer`. */
export const credentialScheme = /^[A-Za-z0-9-]{1,32}$/;

/** The maximum number of hosts that one secret may be sent to. */
export const maxSecretHosts = 16;

/** The position of a secret's value in a request. */
export interface SecretHeader {
  /** The name in lower case. */
  readonly header: string;
  /** The word before the value, with a space between them. */
  readonly scheme?: string | undefined;
}

/** The names of secrets that code reads, and a use `NAME@HOST` for each host to which acp-skills may send a secret. */
export function namesAndUses(declared: readonly DeclaredSecret[]): {
  readonly secrets: readonly string[];
  readonly uses: readonly string[];
} {
  const tables = declared.filter((secret) => typeof secret !== "string");
  const exposed = declared.flatMap((secret) =>
    typeof secret === "string" ? [secret] : secret.expose === true ? [secret.name] : [],
  );
  const uses = tables.flatMap(({ name, hosts = [] }) => hosts.map((host) => `${name}@${host}`));
  return { secrets: [...new Set(exposed)], uses: [...new Set(uses)] };
}

/** The header in which a secret is sent. Default: `authorization`, which has the scheme `Bearer` by default. */
export function headerOfSecret(declared: readonly DeclaredSecret[], name: string): SecretHeader {
  const found = declared.find((secret) => typeof secret !== "string" && secret.name === name);
  const { header = "authorization", scheme } = typeof found === "object" ? found : {};
  const lower = header.toLowerCase();
  return { header: lower, scheme: scheme ?? (lower === "authorization" ? "Bearer" : undefined) };
}

/** Splits a use into name and host. */
export function fromUse(use: string): { readonly name: string; readonly host: string } {
  const at = use.indexOf("@");
  return { name: use.slice(0, at), host: use.slice(at + 1) };
}

/** Whether a name is in ASCII form. Newer versions of Node accept a name that only looks like the ASCII form unchanged. */
const isAsciiName = (text: string): boolean => domainToASCII(text) === text && !domainToUnicode(text).includes("xn--");

/** The only target that a host of a secret denotes; undefined if the host is invalid. */
export function targetOfSecretHost(host: string): Target | undefined {
  const isPlain = host.startsWith("http://");
  const target = parseAuthority(isPlain ? "http" : "https", isPlain ? host.slice("http://".length) : host);
  if (target === undefined || spelled(target) !== host) return undefined;
  const { text, address } = target.host;
  if (text === "localhost" || text.endsWith(".localhost")) return undefined;
  if (address === undefined) return isPlain || !isAsciiName(text) ? undefined : target;
  return isLoopbackAddress(address) || (!isPlain && isPublicAddress(address)) ? target : undefined;
}

function spelled(target: Target): string {
  return `${target.scheme === "http" ? "http://" : ""}${toAuthority(target)}`;
}

/** The fault of a host of a secret, and the correct form; undefined if there is none. */
export function secretHostFault(host: unknown): { readonly what: string; readonly fix: string } | undefined {
  if (typeof host === "string" && targetOfSecretHost(host) !== undefined) return undefined;
  const shown = JSON.stringify(host);
  const example = "Write the name of one host, such as api.example.com or api.example.com:8443.";
  const fault = (what: string, fix = example): { what: string; fix: string } => ({ what: `${shown} ${what}`, fix });
  if (typeof host !== "string" || host === "") return fault("is not a host");
  if (host.includes("*")) return fault("has a `*`, but a secret is sent only to hosts that are named", example);
  if (host.includes("@")) return fault("has a user name, which is no part of a host");
  if (/[^!-~]/.test(host)) {
    const ascii = domainToASCII(host);
    const isForm = ascii !== "" && targetOfSecretHost(ascii) !== undefined;
    return fault(
      "is not in ASCII, where each letter could be one that looks alike",
      isForm ? `Write its ASCII form, ${ascii}.` : example,
    );
  }
  const [, scheme = "https", rest = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^]*)$/i.exec(host.toLowerCase()) ?? [];
  const local = "Of this machine, write the address and the port: http://127.0.0.1:8080.";
  if (/[/?#\\]/.test(rest)) return fault("has a path, which is no part of a host");
  const target = parseAuthority(scheme === "http" ? "http" : "https", rest);
  if (target === undefined) return fault("is neither the name of a host nor an IP address in its usual notation");
  const { text, address } = target.host;
  if (text === "localhost" || text.endsWith(".localhost")) return fault("is a name for this machine", local);
  const isLocal = address !== undefined && isLoopbackAddress(address);
  if (address !== undefined && !isLocal && !isPublicAddress(address))
    return fault("is an address of a private network, which no secret is sent to");
  if (scheme === "http" && !isLocal)
    return fault("is asked over http, which anyone on the way can read", `Write ${text}. ${local}`);
  if (scheme !== "http" && scheme !== "https") return fault(`is asked over ${scheme}, not over https`);
  if (address === undefined && !isAsciiName(text)) return fault("is not a valid name in ASCII form");
  return fault("is not in its shortest form", `Write ${spelled(target)}.`);
}

/** A fault of one secret of a manifest. `at`: the keys below the secret that lead to the fault. */
export interface SecretFault {
  readonly code: "manifest-secret-invalid" | "manifest-secret-host-invalid" | "manifest-secret-header-invalid";
  readonly at: readonly (string | number)[];
  readonly message: string;
  readonly fix: string;
}

/** Yields the faults of one entry of `permissions.secrets`. */
function* secretFaults(value: unknown): Generator<SecretFault, void> {
  const fix = "Use letters, digits and underscores, such as API_KEY.";
  const code = "manifest-secret-invalid";
  const nameFault = (name: unknown, at: SecretFault["at"]): SecretFault => {
    return { code, at, message: `${JSON.stringify(name)} is not a valid secret name`, fix };
  };
  if (!isObject(value)) {
    if (typeof value !== "string" || !secretName.test(value)) yield nameFault(value, []);
    return;
  }
  const { name, hosts, header, scheme, expose } = value;
  if (typeof name !== "string" || !secretName.test(name)) yield nameFault(name ?? null, ["name"]);
  const of = typeof name === "string" ? `the secret ${JSON.stringify(name)}` : "the secret";
  if (hosts === undefined && expose !== true) {
    const message = `${of} has neither hosts nor expose = true, so that nothing can use it`;
    yield { code, at: [], message, fix: 'Add hosts = ["api.example.com"].' };
  }
  if (expose !== undefined && typeof expose !== "boolean")
    yield { code, at: ["expose"], message: `expose of ${of} is not true or false`, fix: "Write true or false." };
  yield* hostFaults(of, hosts);
  yield* headerFaults(of, { header, scheme, hosts });
}

function* hostFaults(of: string, hosts: unknown): Generator<SecretFault, void> {
  if (hosts === undefined) return;
  const code = "manifest-secret-host-invalid";
  if (!Array.isArray(hosts) || hosts.length === 0 || hosts.length > maxSecretHosts) {
    const message = `hosts of ${of} is not a list of 1 to ${maxSecretHosts} hosts`;
    yield { code, at: ["hosts"], message, fix: 'Write hosts = ["api.example.com"].' };
    return;
  }
  for (const [index, host] of hosts.entries()) {
    const fault = secretHostFault(host);
    if (fault !== undefined)
      yield { code, at: ["hosts", index], message: `host of ${of}: ${fault.what}`, fix: fault.fix };
  }
}

function* headerFaults(
  of: string,
  { header, scheme, hosts }: { readonly header: unknown; readonly scheme: unknown; readonly hosts: unknown },
): Generator<SecretFault, void> {
  const code = "manifest-secret-header-invalid";
  if (header !== undefined && (typeof header !== "string" || !credentialHeader.test(header.toLowerCase()))) {
    const message = `header of ${of} is ${JSON.stringify(header)}, which cannot hold a secret`;
    const fix = "Write a header such as Authorization or X-Api-Key; none of a connection, a body or cookies.";
    yield { code, at: ["header"], message, fix };
  }
  if (scheme !== undefined && (typeof scheme !== "string" || !credentialScheme.test(scheme))) {
    const message = `scheme of ${of} is ${JSON.stringify(scheme)}, which is not valid`;
    yield { code, at: ["scheme"], message, fix: "Write letters, digits and hyphens, such as Bearer." };
  }
  if (hosts === undefined && (header !== undefined || scheme !== undefined)) {
    const message = `${of} has a header but no hosts that it is sent to`;
    yield { code, at: [header === undefined ? "scheme" : "header"], message, fix: "Add hosts, or remove it." };
  }
}

/** Yields the faults of `permissions.secrets`, if it is a list. */
export function* faultsOfSecrets(declared: unknown): Generator<SecretFault, void> {
  if (!Array.isArray(declared)) return;
  for (const [index, secret] of declared.entries())
    for (const fault of secretFaults(secret)) yield { ...fault, at: [index, ...fault.at] };
  const names = declared.map((secret: unknown) => (isObject(secret) ? secret["name"] : secret));
  for (const [index, secret] of declared.entries()) {
    const first = names.indexOf(names[index]);
    if (first === index || (!isObject(secret) && !isObject(declared[first]))) continue;
    const message = `several entries of secrets have the name ${JSON.stringify(names[index])}`;
    const fix = "Write one entry for each secret, with all of its hosts.";
    yield { code: "manifest-secret-invalid", at: [index], message, fix };
  }
}
