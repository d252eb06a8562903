import { type IncomingMessage, STATUS_CODES, type ServerResponse, createServer } from "node:http";
import { type Server, type Socket, connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type SecretEndpoint, endpointPath } from "./egress-proxy/secret-endpoint.ts";
import { forwardRequest, openTunnel } from "./egress-proxy/tunnel.ts";
import {
  type Connect,
  areForeign,
  reach,
  type Resolve,
  systemAddresses,
  systemResolver,
} from "../../base/network/reach.ts";
import {
  isPublicAddress,
  isReachableAddress,
  type Target,
  parseAbsoluteForm,
  parseConnectTarget,
  toNetworkPermission,
  parseAuthority,
} from "../../base/network/address.ts";
import { SkillsError } from "../../base/errors.ts";

export interface EgressOptions {
  /** Entries of `permissions.network`, such as `https://*.example.org`. Empty: everything is refused. */
  readonly network: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Answers the run's requests to send secrets. */
  readonly endpoint?: SecretEndpoint | undefined;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  /** Addresses of this machine. Names that resolve to one are refused: local services often trust local clients. */
  readonly ownAddresses?: () => readonly string[];
}

export interface EgressProxy {
  /** Closes all connections and the server. */
  close(): Promise<void>;
}

type Reply = (status: number, text: string) => void;

const connections = 64;
const headerBytes = 16 * 1024;
const idleMs = 60_000;
const refusalsLogged = 20;
const unreadable = refusal("invalid host; write it as example.org:443 or 192.0.2.1:8080");

/**
 * Opens an HTTP forward proxy for one run. Only that run can reach its listener, so that no token is needed. Every request is checked, also
 * those that follow a redirect. Throws INVALID_OPTIONS for an invalid entry.
 */
export function openEgressProxy(server: Server, options: EgressOptions): EgressProxy {
  const { clock, log, ownAddresses = systemAddresses } = options;
  const rules = parseNetworkRules(options.network);
  const connect: Connect =
    options.connect ?? ((address, port) => connectSocket({ host: address, port, allowHalfOpen: true }));
  const resolve = options.resolve ?? systemResolver();
  const clients = new Set<Socket>();
  const busy = new WeakSet<Duplex>();
  const report = logOnce(log);
  // The rules decide about literal addresses.
  const judgeAddresses = ({ host }: Target, addresses: readonly string[]): string | undefined =>
    host.address !== undefined || areForeign(addresses, ownAddresses())
      ? undefined
      : `${host.text} resolves to a private address; that needs an entry with the address itself`;

  const reachTarget = async (
    target: Target,
    client: Duplex | ServerResponse,
    reply: Reply,
  ): Promise<Socket | undefined> => {
    const left = new AbortController();
    client.once("close", () => left.abort());
    const reached = await reach(target, { resolve, connect, clock, judge: judgeAddresses }, left.signal);
    if (reached.type === "connected") {
      const { socket } = reached;
      socket.on("error", () => socket.destroy());
      client.once("close", () => socket.destroy());
      if (!left.signal.aborted) return socket;
      socket.destroy();
    } else if (reached.type === "refused") {
      report(target, reached.why);
      reply(403, refusal(reached.why));
    } else reply(502, reached.why);
    return undefined;
  };
  const onFronting = (target: Target): void =>
    report(target, "the TLS server name differs from the host of the CONNECT request, or is missing");
  /** Why the target is refused, or undefined. */
  const refuse = (target: Target | undefined): string | undefined => {
    if (target === undefined) return unreadable;
    const judgement = judge(rules, target);
    if (judgement.allowed) return undefined;
    report(target, judgement.why);
    return refusal(judgement.why);
  };
  /** Allows one exchange at a time per connection, so that the maximum of connections limits everything. */
  const occupy = ({ socket }: IncomingMessage): boolean => {
    if (busy.has(socket)) socket.destroy();
    else busy.add(socket);
    return !socket.destroyed;
  };

  const http = createServer({ maxHeaderSize: headerBytes });
  // Beyond a maximum, Node would drop headers, even those that delimit the body.
  http.maxHeadersCount = 0;
  http.on("request", (request, response) => {
    if (!occupy(request)) return;
    response.once("close", () => busy.delete(request.socket));
    const { url = "" } = request;
    // Clients that use the proxy also request the endpoint through it.
    if (
      options.endpoint &&
      (url === endpointPath || url === `http://127.0.0.1:${request.socket.localPort}${endpointPath}`)
    ) {
      options.endpoint(request, response);
      return;
    }
    const asked = parseAbsoluteForm(url);
    const refused = refuse(asked?.target);
    const reply: Reply = (status, text) => answer(response, status, text);
    if (!/^http:/i.test(url)) reply(400, "This is an HTTP proxy: request http://host/path, or CONNECT host:443");
    else if (refused !== undefined) reply(403, refused);
    else if (asked !== undefined) {
      void forwardRequest(request, response, asked, { reply, reach: () => reachTarget(asked.target, response, reply) });
    }
  });
  http.on("connect", (request, client, head) => {
    client.on("error", () => client.destroy());
    if (!occupy(request)) return;
    const target = parseConnectTarget(request.url ?? "");
    const refused = refuse(target);
    const reply: Reply = (status, text) => answerConnect(client, status, text);
    if (refused !== undefined) reply(403, refused);
    else if (target !== undefined) {
      void openTunnel(client, head, target, { onFronting, reach: () => reachTarget(target, client, reply) });
    }
  });

  const accept = (socket: Socket): void => {
    clients.add(socket);
    const stop = watchIdle(socket, clock);
    socket.once("close", () => {
      stop();
      clients.delete(socket);
    });
    http.emit("connection", socket);
  };
  server.maxConnections = connections;
  // As in HTTP servers, a client that has closed its side still receives the response.
  Object.assign(server, { allowHalfOpen: true });
  server.on("connection", accept);

  return {
    async close() {
      for (const client of clients) client.destroy();
      // An error means that it is closed already.
      await new Promise<void>((closed) => void server.close(() => closed()));
      for (const client of clients) client.destroy();
    },
  };
}

/** Closes a connection that was idle in both directions between two checks. */
function watchIdle(socket: Socket, clock: Clock): () => void {
  let passed = socket.bytesRead + socket.bytesWritten;
  return every(clock, idleMs, () => {
    const now = socket.bytesRead + socket.bytesWritten;
    if (now === passed) socket.destroy();
    passed = now;
  });
}

/** Logs refusals, each target once and up to a maximum, because the program controls how many there are. */
function logOnce(log: Log): (target: Target, why: string) => void {
  const logged = new Set<string>();
  return (target, why) => {
    const entry = toNetworkPermission(target);
    if (logged.has(entry) || logged.size >= refusalsLogged) return;
    logged.add(entry);
    const more = logged.size === refusalsLogged ? " Further refusals of this run are not logged." : "";
    log("warning", `The sandbox refused a connection to ${entry}: ${why}.${more}`);
  };
}

/** The text of a refusal, also as the reason phrase: clients show nothing else when a CONNECT fails. */
function refusal(why: string): string {
  return `Refused by the sandbox: ${why}`;
}

/** Responds to a plain request. `text` must be printable ASCII. */
function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, phrase(status, text), { "content-type": "text/plain; charset=utf-8" });
  response.end(`${text}.\n`);
}

/** Responds to a CONNECT that fails. */
function answerConnect(client: Duplex, status: number, text: string): void {
  const body = `${text}.\n`;
  client
    .resume()
    .end(
      `HTTP/1.1 ${status} ${phrase(status, text)}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
}

function phrase(status: number, text: string): string {
  return status === 400 ? (STATUS_CODES[status] ?? "") : text;
}

/** One entry of `permissions.network`. */
export interface NetworkRule {
  readonly target: Target;
  /** Whether only subdomains of `target` are meant, not that host itself. */
  readonly subdomains: boolean;
}

const entryShape = /^(https?):\/\/(\*\.)?([^/?#]*)$/i;

/** Parses an entry: `https://host` or `https://*.host`, with `http://` too, an optional port, or an IP address as host. */
export function parseNetworkRule(entry: string): NetworkRule | undefined {
  const [, scheme, wildcard, authority = ""] = entryShape.exec(entry) ?? [];
  const target = parseAuthority(scheme?.toLowerCase() === "http" ? "http" : "https", authority);
  if (target === undefined) return undefined;
  const subdomains = wildcard !== undefined;
  const { address } = target.host;
  if (address !== undefined && (subdomains || !isReachableAddress(address))) return undefined;
  return { target, subdomains };
}

/** Parses all entries. Throws INVALID_OPTIONS with all invalid ones: a run must not start with fewer than it was granted. */
export function parseNetworkRules(entries: readonly string[]): NetworkRule[] {
  const rules = entries.flatMap((entry) => parseNetworkRule(entry) ?? []);
  if (rules.length === entries.length) return rules;
  const faulty = entries.filter((entry) => parseNetworkRule(entry) === undefined);
  const shown = faulty.map((entry) => JSON.stringify(entry)).join(", ");
  const message = `Not an entry of permissions.network: ${shown}. Write https://host, https://*.host or http://127.0.0.1:8080.`;
  throw new SkillsError("INVALID_OPTIONS", message, { facts: { entries: faulty } });
}

export type Judgement = { readonly allowed: true } | { readonly allowed: false; readonly why: string };

/** Whether an entry allows the target; if not, which entry would. */
export function judge(rules: readonly NetworkRule[], target: Target): Judgement {
  if (rules.some((rule) => matches(rule, target))) return { allowed: true };
  const { address } = target.host;
  if (address !== undefined && !isReachableAddress(address)) {
    return { allowed: false, why: `${target.host.text} is not the address of a single host` };
  }
  const why = address !== undefined && !isPublicAddress(address) ? "names a private address; " : "";
  return { allowed: false, why: `${why}needs the entry ${toNetworkPermission(target)} in permissions.network` };
}

function matches({ target: rule, subdomains }: NetworkRule, target: Target): boolean {
  if (rule.scheme !== target.scheme || rule.port !== target.port) return false;
  if (!subdomains) return rule.host.text === target.host.text;
  return target.host.address === undefined && target.host.text.endsWith(`.${rule.host.text}`);
}
