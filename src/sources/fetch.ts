import { setMaxListeners } from "node:events";
import { type Socket, connect as connectSocket } from "node:net";
import type { Agent, Dispatcher, buildConnector } from "undici";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Connect, type Resolve, reach, sharedResolver } from "../base/network/reach.ts";
import { type Target, toAuthority } from "../base/network/address.ts";
import { unlessAborted } from "../base/promises.ts";
import { version } from "../base/version.ts";
import { SkillsError, isSkillsError } from "../base/errors.ts";
import { type AddressOptions, type AddressRules, addressRules, disallowedRequest } from "./fetch/address-rules.ts";
import { readResponseBody, toHeaders } from "./fetch/read-answer.ts";
import { attempt, systemCode } from "../base/failures/system-error.ts";

/** One request to another machine. */
export interface RemoteRequest {
  /** The absolute URL: https, or http to loopback. */
  readonly url: string;
  /** The method. Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The maximum size of the answer, in bytes. */
  readonly maxBytes: number;
  /** The time limit in milliseconds, for connecting, redirects and the body together. */
  readonly timeoutMs: number;
  /** Whether a compressed answer is accepted as it was sent: for a caller that knows the digest of these bytes. */
  readonly asSent?: boolean;
  /** Whether a redirect is returned like any other answer, and not followed. */
  readonly staysThere?: boolean;
}

export interface RemoteAnswer {
  readonly status: number;
  /** The headers, with names in lower case; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The URL after redirects. */
  readonly url: string;
}

/**
 * The only way to other machines: https except to loopback, and no private address unless it is allowed. Every resolved address is checked
 * when the connection is made. Redirects are followed only for GET and HEAD. There are no cookies, and credentials go only to the origin
 * of the request.
 */
export interface Fetcher {
  /**
   * Returns the answer with any status. Throws ENDPOINT_UNREACHABLE (refused address, no connection, too many redirects, TLS),
   * EXECUTION_TIMEOUT, FILE_TOO_LARGE, or SOURCE_INVALID (compressed, unless `asSent`). Messages name the host, never a query or a token.
   * Rejects with the reason of `signal`.
   */
  fetch(request: RemoteRequest, signal: AbortSignal): Promise<RemoteAnswer>;
  /** Whether a document at a public host leads to a private host that the user allowed: the user did not mean that. Absolute URLs. */
  readonly leadsInside: (from: string, to: string) => boolean;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

export interface FetcherOptions extends AddressOptions {
  /** Bearer tokens by origin. Each is sent to requests that begin at its origin, and dropped at a redirect to another origin. */
  readonly tokens?: ReadonlyMap<string, string> | undefined;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  readonly clock?: Clock;
  /** The certificate authority that is trusted instead of the usual ones, as PEM. */
  readonly certificateAuthority?: string;
}

const redirectsFollowed = 5;
const headerBytes = 16 * 1024;
const connectionsOfHost = 4;
const idleConnectionMs = 30_000;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The headers that are sent on after a redirect to another origin; all others may hold secrets meant for the first host. */
const headersForOthers: ReadonlySet<string> = new Set(["accept", "if-none-match"]);
const ownHeaders = { "user-agent": `acp-skills/${version}`, "accept-encoding": "identity" };

/** Opens the fetcher of this process. Loads nothing and connects to nothing before the first request. Throws INVALID_OPTIONS. */
export function openFetcher(options: FetcherOptions): Fetcher {
  const { clock = systemClock } = options;
  const rules = addressRules(options);
  const closed = new AbortController();
  let agent: Promise<Agent> | undefined;
  setMaxListeners(0, closed.signal);

  return {
    async fetch(request, signal) {
      signal.throwIfAborted();
      // Many requests at a time add many listeners, which is no leak.
      setMaxListeners(0, signal);
      const url = parseUrl(request.url);
      const host = toAuthority(rules.targetOf(url));
      closed.signal.throwIfAborted();
      agent ??= openAgent(options, rules, clock, closed.signal);
      const late = new AbortController();
      const cancel = clock.after(request.timeoutMs, () => {
        const message = `${host} did not answer completely within ${request.timeoutMs / 1_000} s; try again.`;
        late.abort(new SkillsError("EXECUTION_TIMEOUT", message));
      });
      const stop = AbortSignal.any([signal, closed.signal, late.signal]);
      const headers = lowerCased(request.headers);
      const token = options.tokens?.get(url.origin);
      if (token !== undefined) headers["authorization"] ??= `Bearer ${token}`;
      try {
        return await follow({ ...request, headers }, url, { rules, agent: await agent, signal: stop });
      } finally {
        cancel();
      }
    },
    leadsInside(from, to) {
      const isAllowed = (url: string): boolean => rules.isAllowed(rules.targetOf(new URL(url)));
      // A URL that must not be requested at all is refused when it is requested.
      return attempt(() => isAllowed(to) && !isAllowed(from), false);
    },
    async close() {
      closed.abort(new SkillsError("CLOSED", "The fetcher is closed."));
      await (await agent)?.destroy();
    },
  };
}

/** Opens the Agent for one set of rules: connections that one user allowed are not shared. `signal` ends all attempts to connect. */
async function openAgent(
  { resolve = sharedResolver, connect = connectTo, certificateAuthority }: FetcherOptions,
  rules: AddressRules,
  clock: Clock,
  signal: AbortSignal,
): Promise<Agent> {
  const undici = await import("undici");
  const secure = undici.buildConnector(certificateAuthority === undefined ? {} : { ca: certificateAuthority });
  // URLs with an IP address come here too: undici calls its own `lookup` only for names.
  const open = async ({ protocol, port, hostname }: buildConnector.Options): Promise<Socket> => {
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    const target = rules.targetOf(new URL(`${protocol}//${host}:${port}`));
    const reached = await reach(
      target,
      { resolve, connect, clock, judge: (...asked) => rules.judge(...asked) },
      signal,
    );
    if (reached.type !== "connected") throw disallowedRequest(reached.why);
    return reached.socket.setNoDelay(true);
  };
  return new undici.Agent({
    connections: connectionsOfHost,
    maxHeaderSize: headerBytes,
    keepAliveMaxTimeout: idleConnectionMs,
    // The deadline of the request covers both, to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (wanted, callback) => {
      open(wanted).then(
        (socket) => {
          if (wanted.protocol !== "https:") {
            callback(null, socket);
            return;
          }
          // Undici does not know a socket before its handshake is done.
          const giveUp = (): void => void socket.destroy();
          signal.addEventListener("abort", giveUp);
          secure({ ...wanted, httpSocket: socket }, (...result) => {
            signal.removeEventListener("abort", giveUp);
            callback(...result);
          });
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
}

interface Asking {
  readonly rules: AddressRules;
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
}

async function follow(request: RemoteRequest, first: URL, asking: Asking): Promise<RemoteAnswer> {
  const { rules } = asking;
  const method = request.method ?? "GET";
  let headers = request.headers ?? {};
  let url = first;
  let target = rules.targetOf(url);
  for (let left = redirectsFollowed; ; left -= 1) {
    const answer = await ask(request, url, toAuthority(target), headers, asking);
    const isFollowed = isReading(method) && request.staysThere !== true && redirects.has(answer.status);
    const next = isFollowed ? answer.headers.location : undefined;
    if (next === undefined) return answer;
    const from = toAuthority(target);
    if (left === 0)
      throw disallowedRequest(`${toAuthority(rules.targetOf(first))} redirects more than ${redirectsFollowed} times`);
    if (!URL.canParse(next, url.href)) throw disallowedRequest(`${from} redirects to an invalid URL`);
    const nextUrl = withoutHash(new URL(next, url.href));
    const nextTarget = redirectTarget(nextUrl, target, rules);
    if (nextUrl.origin !== url.origin)
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => headersForOthers.has(name)));
    url = nextUrl;
    target = nextTarget;
  }
}

/** Returns the target of a redirect. Throws ENDPOINT_UNREACHABLE for http after https, and for a private host after a public one. */
function redirectTarget(url: URL, from: Target, rules: AddressRules): Target {
  const refuse = (why: string): SkillsError => disallowedRequest(`${toAuthority(from)} redirects to ${why}`);
  if (from.scheme === "https" && url.protocol !== "https:")
    throw refuse(`a URL with ${url.protocol}; only https: is followed`);
  let target: Target;
  try {
    target = rules.targetOf(url);
  } catch (error) {
    throw refuse(`a URL that is refused: ${error instanceof Error ? error.message.replace(/\.$/, "") : "unknown"}`);
  }
  if (rules.isAllowed(target) && !rules.isAllowed(from))
    throw refuse(`the private host ${toAuthority(target)}, which a public host must not do`);
  return target;
}

async function ask(
  { method = "GET", body, maxBytes, asSent = false, staysThere = false }: RemoteRequest,
  url: URL,
  host: string,
  headers: Readonly<Record<string, string>>,
  { agent, signal }: Asking,
): Promise<RemoteAnswer> {
  try {
    const asked = agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, ...ownHeaders },
      body: body ?? null,
      signal,
    });
    // Undici notices the signal only once it is connected.
    const answer = await unlessAborted(asked, signal);
    const received = { status: answer.statusCode, headers: toHeaders(answer.headers) };
    const bytes = await readResponseBody(answer.body, received, { host, maxBytes, method, asSent, staysThere });
    return { ...received, body: bytes, url: url.href };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toFetchFailure(error, host);
  }
}

/** Whether a request with this method may be repeated at another URL. */
function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw disallowedRequest("A URL is invalid; write it as https://skills.example/path");
  return withoutHash(new URL(text));
}

function withoutHash(url: URL): URL {
  url.hash = "";
  return url;
}

const connectTo: Connect = (address, port) => connectSocket({ host: address, port });

/** Converts the error of a failed connection. `host` may have a port. The message contains nothing that the other side sent. */
function toFetchFailure(error: unknown, host: string): SkillsError {
  // The address was refused while connecting.
  if (isSkillsError(error)) return error;
  // Undici does not set the code of every error of its parser.
  const code = systemCode(error) || (error instanceof Error && error.name === "HTTPParserError" ? "HPE_INVALID" : "");
  return new SkillsError("ENDPOINT_UNREACHABLE", `${host} ${describe(code)}.`, { cause: error });
}

function describe(code: string): string {
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW")
    return "answered with headers of more than 16 KiB";
  if (code.startsWith("HPE_") || code.startsWith("UND_ERR_RES_")) return "gave an answer that is not valid HTTP";
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE")
    return "closed the connection before the answer was complete; try again";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "cannot be reached in time; try again";
  if (/CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO/.test(code))
    return `has no valid TLS certificate (${code}); a certificate authority of your own is trusted with NODE_EXTRA_CA_CERTS`;
  return code === "" ? "cannot be asked" : `cannot be asked (${code})`;
}
