import { SkillsError, isSkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import type { Fetcher, RemoteAnswer, RemoteRequest } from "../../../fetch.ts";
import { isLoopbackHost } from "../../source-label.ts";
import type { FindCredentials, RegistryCredentials } from "./credentials.ts";
import { type OciReference, originOfRegistry } from "./reference.ts";

/** The actions that are requested for a repository. */
type RegistryAction = "pull" | "pull,push";

/** The means to contact a repository, and the wanted actions. */
export interface RegistryOptions {
  readonly action: RegistryAction;
  readonly fetcher: Fetcher;
  readonly find: FindCredentials;
}

const tokenBytes = 256 * 1024;
const tokenForm = /^[\x21-\x7E]{1,14000}$/;
const timeoutMs = 20_000;

export interface RegistryAuthorization {
  headers(): Readonly<Record<string, string>>;
  /** Gets the header that an answer with status 401 wants; `used`: the header of the request. Returns whether to repeat the request. */
  renew(answer: RemoteAnswer, used: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/**
 * Manages the Authorization header for one repository. It is empty until the registry wants one, then a token from the token server that
 * the registry names, or the credentials themselves. Credentials are used if there are any; no challenge widens the scope.
 */
export function openAuthorization(
  repository: OciReference,
  { action, fetcher, find }: RegistryOptions,
): RegistryAuthorization {
  const origin = new URL(originOfRegistry(repository.registry));
  let header: string | undefined;

  async function askToken(
    challenge: string,
    credentials: RegistryCredentials | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const said = new Map(
      Array.from(challenge.matchAll(/([a-z_]+)="([^"]*)"/gi), ([, key = "", value = ""]) => [key.toLowerCase(), value]),
    );
    const realm = realmOf(said.get("realm") ?? "");
    const scope = `repository:${repository.repository}:${action}`;
    const wanted = new URLSearchParams({ service: said.get("service") ?? origin.host, scope });
    const asked = { maxBytes: tokenBytes, timeoutMs, headers: { accept: "application/json" } };
    const answer = await ask(
      credentials?.type === "identity"
        ? { ...asked, url: realm.href, ...refreshing(wanted, credentials.token) }
        : {
            ...asked,
            url: withQuery(realm, wanted),
            headers: { ...asked.headers, ...(credentials && { authorization: toBasic(credentials) }) },
          },
      signal,
    );
    if (answer.status !== 200) {
      const whose =
        credentials === undefined ? "no credentials" : `the credentials that are stored for ${repository.registry}`;
      const code = answer.status >= 500 || answer.status === 429 ? "ENDPOINT_UNREACHABLE" : "AUTH_REQUIRED";
      throw refusal(
        code,
        `answered with status ${answer.status} to ${whose}; log in with docker login ${repository.registry}`,
      );
    }
    const json = parseIfJson(Buffer.from(answer.body).toString("utf8"));
    const token = isObject(json) ? (json["token"] ?? json["access_token"]) : undefined;
    if (typeof token !== "string" || !tokenForm.test(token)) throw refusal("SOURCE_INVALID", "answered with no token");
    return token;
  }

  /** Returns the URL of the token server. Throws if credentials must not be sent there. */
  function realmOf(text: string): URL {
    if (!URL.canParse(text)) throw refusal("SOURCE_INVALID", "has no valid URL");
    const realm = new URL(text);
    realm.hash = "";
    const isHere = isLoopbackHost(origin.hostname) && isLoopbackHost(realm.hostname) && realm.protocol === "http:";
    if (realm.protocol !== "https:" && !isHere)
      throw refusal(
        "SOURCE_INVALID",
        "is not asked: its URL is not https, and anyone on the way could read what is sent",
      );
    if (realm.username !== "" || realm.password !== "")
      throw refusal("SOURCE_INVALID", "has user information in its URL");
    if (fetcher.leadsInside(origin.href, realm.href))
      throw refusal(
        "ENDPOINT_UNREACHABLE",
        `is on the private host ${realm.host}, to which a public registry must not lead; if you trust both, allow the registry too: --allow-private ${repository.registry}`,
      );
    return realm;
  }

  async function ask(request: RemoteRequest, signal: AbortSignal): Promise<RemoteAnswer> {
    try {
      return await fetcher.fetch(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isSkillsError(error)) throw error;
      throw refusal(error.code, `cannot be asked: ${error.message.replace(/\.$/, "")}`, error);
    }
  }

  function refusal(code: SkillsError["code"], why: string, cause?: unknown): SkillsError {
    return new SkillsError(code, `The token server that ${repository.registry} names ${why}.`, { cause });
  }

  return {
    headers: () => (header === undefined ? {} : { authorization: header }),
    async renew({ headers }, used, signal) {
      // Another request got a header meanwhile.
      if (header !== used) return true;
      const [, scheme = "", rest = ""] = /^\s*([A-Za-z]+)(?:\s+(.*))?$/s.exec(headers["www-authenticate"] ?? "") ?? [];
      const credentials = await find(repository, signal);
      if (/^bearer$/i.test(scheme)) header = `Bearer ${await askToken(rest, credentials, signal)}`;
      else if (/^basic$/i.test(scheme) && credentials?.type === "password") header = toBasic(credentials);
      return header !== used;
    },
  };
}

function toBasic(credentials: RegistryCredentials): string {
  const { user, secret } =
    credentials.type === "password" ? credentials : { user: "<token>", secret: credentials.token };
  return `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
}

function withQuery(url: URL, more: URLSearchParams): string {
  const whole = new URL(url);
  for (const [key, value] of more) whole.searchParams.set(key, value);
  return whole.href;
}

function refreshing(wanted: URLSearchParams, token: string): Pick<RemoteRequest, "method" | "body" | "headers"> {
  const form = new URLSearchParams({
    ...Object.fromEntries(wanted),
    grant_type: "refresh_token",
    client_id: "acp-skills",
    refresh_token: token,
  });
  const headers = { accept: "application/json", "content-type": "application/x-www-form-urlencoded" };
  return { method: "POST", body: form.toString(), headers };
}
