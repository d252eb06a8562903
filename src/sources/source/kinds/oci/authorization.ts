import { SkillsError, isSkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import type { Fetcher, RemoteAnswer } from "../../../fetch.ts";
import { isLoopbackHost } from "../../source-label.ts";
import type { FindCredentials, RegistryCredentials } from "./credentials.ts";
import { type OciReference, originOfRegistry } from "./reference.ts";

/** What a repository is asked for. */
type RegistryAction = "pull" | "pull,push";

/** How a repository is asked. */
export interface RegistryOptions {
  readonly action: RegistryAction;
  readonly fetcher: Fetcher;
  readonly find: FindCredentials;
}

const tokenBytes = 256 * 1024;
const tokenForm = /^[\x21-\x7E]{1,14000}$/;
const timeoutMs = 20_000;

/**
 * The Authorization header for one repository: nothing until the registry wants something, then a token from the token server that it names,
 * with credentials if there are any, or these themselves. Scopes are ours: no challenge widens them.
 */
export class RegistryAuthorization {
  readonly #place: Pick<OciReference, "registry" | "repository">;
  readonly #origin: URL;
  readonly #action: RegistryAction;
  readonly #fetcher: Fetcher;
  readonly #find: FindCredentials;
  #header: string | undefined;

  constructor(place: OciReference, { action, fetcher, find }: RegistryOptions) {
    this.#place = place;
    this.#origin = new URL(originOfRegistry(place.registry));
    this.#action = action;
    this.#fetcher = fetcher;
    this.#find = find;
  }

  headers(): Readonly<Record<string, string>> {
    return this.#header === undefined ? {} : { authorization: this.#header };
  }

  /** Gets what an answer with status 401 wants, to a request with the header `used`; whether the request is worth repeating. */
  async renew({ headers }: RemoteAnswer, used: string | undefined, signal: AbortSignal): Promise<boolean> {
    // Another request got one meanwhile.
    if (this.#header !== used) return true;
    const [, scheme = "", rest = ""] = /^\s*([A-Za-z]+)(?:\s+(.*))?$/s.exec(headers["www-authenticate"] ?? "") ?? [];
    const credentials = await this.#find(this.#place, signal);
    if (/^bearer$/i.test(scheme)) this.#header = `Bearer ${await this.#askToken(rest, credentials, signal)}`;
    else if (/^basic$/i.test(scheme) && credentials?.type === "password") this.#header = toBasic(credentials);
    return this.#header !== used;
  }

  async #askToken(
    challenge: string,
    credentials: RegistryCredentials | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const said = new Map(
      Array.from(challenge.matchAll(/([a-z_]+)="([^"]*)"/gi), ([, key = "", value = ""]) => [key.toLowerCase(), value]),
    );
    const realm = this.#realmOf(said.get("realm") ?? "");
    const scope = `repository:${this.#place.repository}:${this.#action}`;
    const wanted = new URLSearchParams({ service: said.get("service") ?? this.#origin.host, scope });
    const asked = { maxBytes: tokenBytes, timeoutMs, headers: { accept: "application/json" } };
    const answer = await this.#ask(
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
        credentials === undefined ? "no credentials" : `the credentials that are stored for ${this.#place.registry}`;
      const code = answer.status >= 500 || answer.status === 429 ? "ENDPOINT_UNREACHABLE" : "AUTH_REQUIRED";
      throw this.#refusal(
        code,
        `answered with status ${answer.status} to ${whose}; log in with docker login ${this.#place.registry}`,
      );
    }
    const json = parseIfJson(Buffer.from(answer.body).toString("utf8"));
    const token = isObject(json) ? (json["token"] ?? json["access_token"]) : undefined;
    if (typeof token !== "string" || !tokenForm.test(token))
      throw this.#refusal("SOURCE_INVALID", "answered with no token");
    return token;
  }

  /** The URL of the token server, if credentials may be sent there. */
  #realmOf(text: string): URL {
    if (!URL.canParse(text)) throw this.#refusal("SOURCE_INVALID", "has no valid URL");
    const realm = new URL(text);
    realm.hash = "";
    const isHere =
      isLoopbackHost(this.#origin.hostname) && isLoopbackHost(realm.hostname) && realm.protocol === "http:";
    if (realm.protocol !== "https:" && !isHere)
      throw this.#refusal(
        "SOURCE_INVALID",
        "is not asked: its URL is not https, and anyone on the way could read what is sent",
      );
    if (realm.username !== "" || realm.password !== "")
      throw this.#refusal("SOURCE_INVALID", "has user information in its URL");
    if (this.#fetcher.leadsInside(this.#origin.href, realm.href))
      throw this.#refusal(
        "ENDPOINT_UNREACHABLE",
        `is on the private host ${realm.host}, to which a public registry must not lead; if you trust both, allow the registry too: --allow-private ${this.#place.registry}`,
      );
    return realm;
  }

  async #ask(request: Parameters<Fetcher["fetch"]>[0], signal: AbortSignal): Promise<RemoteAnswer> {
    try {
      return await this.#fetcher.fetch(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isSkillsError(error)) throw error;
      throw this.#refusal(error.code, `cannot be asked: ${error.message.replace(/\.$/, "")}`, error);
    }
  }

  #refusal(code: SkillsError["code"], why: string, cause?: unknown): SkillsError {
    return new SkillsError(code, `The token server that ${this.#place.registry} names ${why}.`, { cause });
  }
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

function refreshing(
  wanted: URLSearchParams,
  token: string,
): { method: "POST"; body: string; headers: Record<string, string> } {
  const form = new URLSearchParams({
    ...Object.fromEntries(wanted),
    grant_type: "refresh_token",
    client_id: "acp-skills",
    refresh_token: token,
  });
  const headers = { accept: "application/json", "content-type": "application/x-www-form-urlencoded" };
  return { method: "POST", body: form.toString(), headers };
}
