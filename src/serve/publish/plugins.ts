import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { readBody, tooLarge } from "../../wire/http/read-body.ts";
import { respondWithCached, toCachedResponse } from "../cached-response.ts";
import { type HttpContext, type MountRoutes, toRefusalResponse } from "../http-door.ts";
import type { Audience } from "./audience.ts";
import { mountForAudiences } from "./mount-for-audiences.ts";
import { toMarketplaceManifest } from "./plugins/marketplace.ts";
import { createPublishedRepositories } from "./plugins/repositories.ts";
import { readPackRequest, toAdvertisement, toNotOurs, toPackStart } from "./plugins/upload-pack.ts";

/** A client sends the ids of some commits that it has; ours has no history. */
const maxRequestBytes = 256 * 1024;
const secret = { "referrer-policy": "no-referrer" };
const unpack = promisify(gunzip);

/**
 * The skills as plugins, one each: a git repository, which is what Claude Code, Copilot, Codex and VS Code add as a marketplace; and the
 * catalog alone, for Claude Code. Below `/s/<token>/`, too.
 */
export const mountPlugins: MountRoutes = (routes, { app, baseUrl, config, publication, shares }) => {
  const repositories = createPublishedRepositories(app, config);

  async function answerCatalog(context: HttpContext, audience: Audience): Promise<Response> {
    const skills = await repositories.skillsFor(publication(), audience);
    const repository = `${baseUrl()}${audience.prefix}/plugins.git`;
    const { provider } = config;
    const catalog = toMarketplaceManifest(skills, { provider, share: audience.share, repository });
    return respondWithCached(context, toCachedResponse(JSON.stringify(catalog)), {
      isEverybodys: audience.isEverybody,
      extra: secret,
    });
  }

  async function answerRefs(context: HttpContext, audience: Audience): Promise<Response> {
    if (context.req.query("service") !== "git-upload-pack")
      return toRefusalResponse(context, {
        status: 403,
        code: "PERMISSION_DENIED",
        message: "This repository is read-only.",
      });
    const { commit } = await repositories.current(publication(), audience);
    return context.body(toAdvertisement(commit), 200, headersOf("advertisement"));
  }

  async function answerPack(context: HttpContext, audience: Audience): Promise<Response> {
    if (context.req.header("content-type") !== "application/x-git-upload-pack-request")
      return toRefusalResponse(context, { status: 415, code: "INVALID_REQUEST", message: "Only git asks for packs." });
    const request = await readRequest(context);
    if (request === "too large") return toRefusalResponse(context, tooLarge(maxRequestBytes));
    if (request === undefined)
      return toRefusalResponse(context, {
        status: 400,
        code: "INVALID_REQUEST",
        message: "This is no request of git.",
      });
    const headers = headersOf("result");
    const [first] = request.wants;
    const repository = await repositories.withCommit(publication(), audience, first);
    if (repository === undefined) return context.body(toNotOurs(first), 200, headers);
    const unknown = request.wants.find((want) => want !== repository.commit);
    if (unknown !== undefined) return context.body(toNotOurs(unknown), 200, headers);
    const start = toPackStart(request);
    if (!request.isDone) return context.body(start, 200, headers);
    const { pack } = repository;
    const body = toStream(start, pack.parts());
    return context.body(body, 200, { ...headers, "content-length": String(start.length + pack.size) });
  }

  const mount = mountForAudiences(routes, shares);
  mount("GET", "/marketplace.json", answerCatalog);
  mount("GET", "/.claude-plugin/marketplace.json", answerCatalog);
  mount("GET", "/plugins.git/info/refs", answerRefs);
  mount("POST", "/plugins.git/git-upload-pack", answerPack);
};

function headersOf(what: "advertisement" | "result"): Record<string, string> {
  return { ...secret, "content-type": `application/x-git-upload-pack-${what}`, "cache-control": "no-store" };
}

async function readRequest(context: HttpContext): Promise<ReturnType<typeof readPackRequest> | "too large"> {
  const { incoming } = context.env;
  const body = await readBody(incoming, maxRequestBytes);
  if (body === undefined) return "too large";
  if (incoming.headers["content-encoding"] !== "gzip") return readPackRequest(body);
  try {
    return readPackRequest(await unpack(body, { maxOutputLength: maxRequestBytes }));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") return "too large";
    return undefined;
  }
}

function toStream(
  start: Uint8Array<ArrayBuffer>,
  parts: Generator<Uint8Array<ArrayBuffer>, void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(start);
    },
    pull(controller) {
      const { value } = parts.next();
      if (value === undefined) controller.close();
      else controller.enqueue(value);
    },
  });
}
