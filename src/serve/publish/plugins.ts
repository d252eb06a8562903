import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { IncomingMessage } from "node:http";
import { readBody, tooLarge, type HttpRefusal } from "../../wire/http.ts";
import { flushPacket, packetLine, readPackets } from "../../wire/packet-lines.ts";
import { sendCached, toCachedResponse } from "../cached-response.ts";
import type { RouteResult, CreateRoutes, HttpExchange } from "../serve-context.ts";
import { type Audience, routesForAudiences } from "./audience.ts";
import { toMarketplaceManifest } from "./plugins/marketplace.ts";
import { createPublishedRepositories } from "./plugins/repositories.ts";

/** The maximum size of a request, in bytes: it has the ids of some commits of the client. The repository itself has no history. */
const maxRequestBytes = 256 * 1024;
const secret = { "referrer-policy": "no-referrer" };
const unpack = promisify(gunzip);

const readOnly: HttpRefusal = { status: 403, code: "PERMISSION_DENIED", message: "This repository is read-only." };
const onlyGit: HttpRefusal = { status: 415, code: "INVALID_REQUEST", message: "Only git asks for packs." };
const notGit: HttpRefusal = { status: 400, code: "INVALID_REQUEST", message: "This is no request of git." };

/**
 * The skills as plugins, one each, also below `/s/<token>/`. Claude Code, Copilot, Codex and VS Code add a git repository as a
 * marketplace; for Claude Code there is also the catalog alone. Clients clone with `--depth 1`, so that upload-pack is served: git's
 * protocol of static files refuses it ("dumb http transport does not support shallow capabilities").
 */
export const pluginRoutes: CreateRoutes = ({ app, baseUrl, config, publication, shares }) => {
  const repositories = createPublishedRepositories(app, config);

  async function answerCatalog(exchange: HttpExchange, audience: Audience): Promise<RouteResult> {
    const skills = await repositories.skillsFor(publication(), audience);
    const repository = `${baseUrl()}${audience.prefix}/plugins.git`;
    const { provider } = config;
    const catalog = toMarketplaceManifest(skills, { provider, share: audience.share, repository });
    const answer = toCachedResponse(JSON.stringify(catalog));
    return sendCached(exchange, answer, { isPublic: audience.isEverybody, extra: secret });
  }

  async function answerRefs(exchange: HttpExchange, audience: Audience): Promise<RouteResult> {
    if (exchange.query.get("service") !== "git-upload-pack") return readOnly;
    const { commit } = await repositories.current(publication(), audience);
    return exchange.send(200, toAdvertisement(commit), headersOf("advertisement"));
  }

  async function answerPack(exchange: HttpExchange, audience: Audience): Promise<RouteResult> {
    const { request, response } = exchange;
    if (request.headers["content-type"] !== "application/x-git-upload-pack-request") return onlyGit;
    const asked = await readRequest(request);
    if ("status" in asked) return asked;
    const headers = headersOf("result");
    const [first] = asked.wants;
    const repository = await repositories.withCommit(publication(), audience, first);
    const unknown = repository === undefined ? first : asked.wants.find((want) => want !== repository.commit);
    if (repository === undefined || unknown !== undefined) {
      const refusal = packetLine(`ERR upload-pack: not our ref ${(unknown ?? first).slice(0, 64)}\n`);
      return exchange.send(200, refusal, headers);
    }
    const start = toPackStart(asked);
    if (!asked.isDone) return exchange.send(200, start, headers);
    const { pack } = repository;
    response.writeHead(200, { ...headers, "content-length": start.length + pack.size });
    response.write(start);
    // A client that leaves needs no answer.
    await pipeline(Readable.from(pack.parts()), response).catch(() => undefined);
    return undefined;
  }

  return [
    ...routesForAudiences(shares, "GET", "/marketplace.json", answerCatalog),
    ...routesForAudiences(shares, "GET", "/.claude-plugin/marketplace.json", answerCatalog),
    ...routesForAudiences(shares, "GET", "/plugins.git/info/refs", answerRefs),
    ...routesForAudiences(shares, "POST", "/plugins.git/git-upload-pack", answerPack),
  ];
};

function headersOf(what: "advertisement" | "result"): Record<string, string> {
  return { ...secret, "content-type": `application/x-git-upload-pack-${what}`, "cache-control": "no-store" };
}

async function readRequest(request: IncomingMessage): Promise<PackRequest | HttpRefusal> {
  const body = await readBody(request, maxRequestBytes);
  if (body === undefined) return tooLarge(maxRequestBytes);
  if (request.headers["content-encoding"] !== "gzip") return readPackRequest(body) ?? notGit;
  try {
    return readPackRequest(await unpack(body, { maxOutputLength: maxRequestBytes })) ?? notGit;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(maxRequestBytes) : notGit;
  }
}

/*
 * The subset of git's protocol (version 0, over HTTP) that reads a repository of one commit without parents.
 */

/** A full pack of the commit is a valid answer, whatever commits the client has and whatever depth it requests. */
const capabilities = `shallow no-progress allow-tip-sha1-in-want allow-reachable-sha1-in-want filter symref=HEAD:refs/heads/main agent=acp-skills`;

/** Formats the answer to `info/refs?service=git-upload-pack`. */
export function toAdvertisement(commit: string): string {
  const service = packetLine("# service=git-upload-pack\n");
  const refs = packetLine(`${commit} HEAD\0${capabilities}\n`) + packetLine(`${commit} refs/heads/main\n`);
  return service + flushPacket + refs + flushPacket;
}

/** A request for a pack. */
export interface PackRequest {
  /** The ids of the commits that the client wants. */
  readonly wants: readonly [string, ...string[]];
  readonly isShallow: boolean;
  readonly hasCommits: boolean;
  /** Whether the client sends nothing more, and the pack is to follow. */
  readonly isDone: boolean;
}

/** Reads a request body; undefined if it is invalid. */
export function readPackRequest(body: Buffer): PackRequest | undefined {
  const lines = (readPackets(body) ?? []).map((packet) => packet.trimEnd().split(" ", 2));
  const has = (verb: string): boolean => lines.some(([first]) => first === verb);
  const [first, ...rest] = lines.flatMap(([verb, value = ""]) => (verb === "want" ? [value] : []));
  if (first === undefined) return undefined;
  return { wants: [first, ...rest], isShallow: has("deepen"), hasCommits: has("have"), isDone: has("done") };
}

/** Formats the text before the pack if the request is done; else the whole answer, after which the client asks again. */
export function toPackStart({ isShallow, hasCommits, isDone }: PackRequest): string {
  // The commit has no parents, so that no depth removes any.
  return (isShallow ? flushPacket : "") + (isDone || hasCommits ? packetLine("NAK\n") : "");
}
