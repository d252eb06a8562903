import { parseAuthority, toAuthority, toNetworkPermission } from "../../../base/network/address.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type SecretHeader, targetOfSecretHost } from "../../../skills/permissions.ts";
import type { SecretRequest } from "../../sandbox.ts";
import { requestLimits } from "../../sandbox/frames.ts";

/** A secret that is sent for a run whose code cannot read it. */
export interface SentSecret extends SecretHeader {
  readonly name: string;
  readonly value: string;
  /** The hosts that may receive the secret, as the skill's manifest names them. */
  readonly hosts: readonly string[];
}

/** A request as it is sent, without the secret. */
interface CheckedRequest {
  /** The URL, rebuilt from its checked components. */
  readonly url: string;
  /** `host`, or `host:port`. */
  readonly host: string;
  readonly method: string;
  /** The headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const urlForm = /^(https?):\/\/([^/?#]*)((?:[/?][!"$-[\]-~]*)?)$/i;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const headerText = /^[\t -~]*$/;

/**
 * Headers that code must not set: those of a connection, and those that change how the answer is encoded. A secret that comes back in
 * pieces, compressed or in another encoding would not be found.
 */
const ownHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding|accept-charset|range|if-range)$/;

/** Checks a request of code. Throws VALIDATION_ERROR, and PERMISSION_DENIED for a host to which the secret is not sent. */
export function checkRequest(request: SecretRequest, secret: SentSecret): CheckedRequest {
  const { method, body } = request;
  if (!methods.includes(method)) throw invalid(`The method ${shown(method)} is not one of ${methods.join(", ")}`);
  if (body.length > requestLimits.bodyBytes)
    throw invalid(`The body has ${body.length} bytes; the limit is ${requestLimits.bodyBytes}`);
  if (body.length > 0 && (method === "GET" || method === "HEAD")) throw invalid(`A ${method} request has no body`);
  return { ...checkUrl(request.url, secret), method, headers: checkHeaders(request.headers, secret) };
}

function checkUrl(url: string, { name, hosts }: SentSecret): Pick<CheckedRequest, "url" | "host"> {
  if (url.length > requestLimits.urlBytes)
    throw invalid(`The URL is longer than ${requestLimits.urlBytes} bytes, the limit`);
  const [, scheme = "", authority = "", path = ""] = urlForm.exec(url) ?? [];
  if (scheme === "")
    throw invalid(
      "The URL is not of the form https://host/path in ASCII, without a fragment; percent-encode other characters",
    );
  if (authority.includes("@")) throw invalid("The URL has a user name or a password; remove it");
  const target = parseAuthority(scheme.toLowerCase() === "http" ? "http" : "https", authority);
  if (target === undefined) throw invalid(`${shown(authority)} is not a host, or its port is invalid`);
  const asked = toNetworkPermission(target);
  const isNamed = hosts.some((host) => {
    const allowed = targetOfSecretHost(host);
    return allowed !== undefined && toNetworkPermission(allowed) === asked;
  });
  if (!isNamed)
    throw new SkillsError(
      "PERMISSION_DENIED",
      `${name} is not sent to ${asked}: its skill names only ${hosts.join(", ")}.`,
    );
  const whole = `${asked}${path}`;
  // The URL parser that is used to connect must find the host that was checked.
  const parsed = URL.canParse(whole) ? new URL(whole) : undefined;
  if (parsed?.origin !== asked) throw invalid("The URL is not valid");
  return { url: parsed.href, host: toAuthority(target) };
}

function checkHeaders(given: SecretRequest["headers"], secret: SentSecret): CheckedRequest["headers"] {
  if (given.length > requestLimits.headers)
    throw invalid(`There are ${given.length} headers; the limit is ${requestLimits.headers}`);
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    bytes += name.length + value.length;
    if (!token.test(name)) throw invalid(`${shown(name)} is not a name of a header`);
    if (!headerText.test(value))
      throw invalid(`The header ${name} has a line end, a control character or one that is not ASCII`);
    if (lower === secret.header) throw invalid(`The header ${name} carries ${secret.name}, and is set by acp-skills`);
    if (ownHeaders.test(lower)) throw invalid(`The header ${name} is set by acp-skills; remove it`);
    if (headers.has(lower)) throw invalid(`The header ${name} is given twice`);
    if (value.includes(secret.value)) throw invalid(`The header ${name} has the value of a secret`);
    headers.set(lower, value.trim());
  }
  if (bytes > requestLimits.headerBytes)
    throw invalid(`The headers have ${bytes} bytes; the limit is ${requestLimits.headerBytes}`);
  return Object.fromEntries(headers);
}

function shown(text: string): string {
  return quoted(text, { maxLength: 100 });
}

/** `what` is a sentence without its full stop. */
export function invalid(what: string): SkillsError {
  return new SkillsError("VALIDATION_ERROR", `${what}.`);
}
