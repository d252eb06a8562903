import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import {
  type IsOwnPeer,
  ambiguousPath,
  isRefusal,
  parseJsonBody,
  pathOf,
  readBody,
  readJsonBody,
} from "../../../wire/http.ts";
import { type SignInResponse, sessionHeader } from "../../wire/sessions.ts";
import type { CachedResponse } from "../../../serve/cached-response.ts";
import { createRouter } from "../../../serve/router.ts";
import { type SignedInPages, forbidden, faultOfRequest } from "../admission/admit-page.ts";
import type { BrowseAnswer, BrowseContext, BrowseRefusal, BrowseRequest, BrowseRoutes } from "../browse-context.ts";
import { sendAnswer, toRefusal } from "./send-answer.ts";

/** The files, sessions and routes from which requests of the page are answered. */
export interface AnsweringPage {
  /** The host with its port; empty until the server listens. */
  readonly host: () => string;
  readonly files: ReadonlyMap<string, CachedResponse>;
  readonly sessions: () => SignedInPages;
  readonly routes: BrowseRoutes;
  /** Gets every response until it is finished. */
  readonly running: Set<ServerResponse>;
  /** Called for each request that has the cookie or gets one. */
  readonly used: () => void;
  readonly isOwnPeer: IsOwnPeer;
}

const sessionPath = "/api/session";
const exchange = z.strictObject({ code: z.string().max(256) });

const codeHint = "Open the address that acp-skills browse prints; press Enter there for a new one.";
const notSignedIn: BrowseRefusal = {
  status: 401,
  code: "AUTH_REQUIRED",
  message: "This browser is not signed in.",
  hint: codeHint,
};
const tooManyCodes: BrowseRefusal = {
  status: 429,
  code: "RATE_LIMITED",
  message: "Too many wrong codes; wait a minute.",
  headers: { "retry-after": "60" },
};

/** Answers requests after checking their sender. Without the cookie, only the files of the page are served, which have no secrets. */
export function answerPage({ app: { log }, readOnly, stopped }: BrowseContext, page: AnsweringPage): RequestListener {
  const { host, files, sessions, routes, running, used, isOwnPeer } = page;
  const route = createRouter(
    Object.entries(routes).map(([pattern, answer]) => {
      const [method, path] = pattern.split(" ") as ["GET" | "POST" | "DELETE", string];
      return { method, path, answer };
    }),
  );

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<BrowseAnswer> {
    const { method = "", url = "", headers } = request;
    // An encoded slash is part of an id.
    const path = pathOf(url, { mayEncodeSlashes: true });
    const fault = faultOfRequest(request, path, host());
    if (fault !== undefined || path === undefined) return { refused: fault ?? ambiguousPath };
    const isReading = method === "GET" || method === "HEAD";
    const file = isReading ? files.get(path) : undefined;
    if (file !== undefined) return { cached: file };
    if (!(await isOwnPeer(request.socket)))
      return {
        refused: forbidden("This page is only for the person who started it: the browser is not known to be theirs."),
      };
    if (path === sessionPath && method === "POST")
      return openSession(await toBrowseRequest(request, response, { params: new Map(), stopped }).json(exchange));
    const { [sessionHeader]: key } = headers;
    if (!sessions().isOpenedBy(headers.cookie, typeof key === "string" ? key : "")) return { refused: notSignedIn };
    used();
    if (readOnly && !isReading) {
      const hint = "Start acp-skills browse without --read-only to approve, run, install or open something.";
      return { refused: forbidden("This page is read-only.", hint) };
    }
    const routed = route(method, path);
    if ("refusal" in routed) return { refused: routed.refusal };
    return await routed.route.answer(toBrowseRequest(request, response, { params: routed.params, stopped }));
  }

  function openSession({ code }: z.infer<typeof exchange>): BrowseAnswer {
    const opened = sessions().exchange(code);
    if (opened === "limited") return { refused: tooManyCodes };
    if (opened === undefined)
      return { refused: forbidden("The code is wrong, was used, or is older than five minutes.", codeHint) };
    used();
    const { cookie, key } = opened;
    return { json: { key } satisfies SignInResponse, headers: { "set-cookie": cookie } };
  }

  return (request, response) => {
    running.add(response);
    response.once("close", () => running.delete(response));
    answerTo(request, response)
      .catch((error: unknown): BrowseAnswer => ({ refused: toRefusal(error, log) }))
      .then((answer) => {
        if ("refused" in answer) request.resume();
        if (!response.destroyed) sendAnswer(response, answer, request.headers["if-none-match"]);
      })
      .catch((error: unknown) => {
        log("error", `A page was not answered: ${String(error)}`);
        response.destroy();
      });
  };
}

const jsonLimits = { maxBytes: 64 * 1024, maxValues: 10_000 };

/** A request as routes see it. */
function toBrowseRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  { params, stopped }: { readonly params: ReadonlyMap<string, string>; readonly stopped: AbortSignal },
): BrowseRequest {
  const target = incoming.url ?? "";
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new SkillsError("CLOSED", "The page went away."));
  });
  return {
    incoming,
    query: new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : ""),
    param(name) {
      const value = params.get(name);
      if (value === undefined) throw new Error(`This route has no :${name}.`);
      return value;
    },
    async json(schema, limits = jsonLimits) {
      const bytes = await readJsonBody(incoming, limits);
      if (isRefusal(bytes))
        throw new SkillsError(bytes.status === 413 ? "BLOB_TOO_LARGE" : "VALIDATION_ERROR", bytes.message);
      const { data, error } = schema.safeParse(parseJsonBody(bytes));
      if (error === undefined) return data;
      const [issue] = error.issues;
      const pointer = issue?.path.join("/") ?? "";
      throw new SkillsError("VALIDATION_ERROR", `The body is not as expected: /${pointer}: ${issue?.message ?? ""}.`);
    },
    async bytes(maxBytes) {
      const body = await readBody(incoming, maxBytes);
      if (body !== undefined) return body;
      throw new SkillsError("BLOB_TOO_LARGE", `The body is too large; the limit is ${maxBytes} bytes.`);
    },
    signal: AbortSignal.any([gone.signal, stopped]),
  };
}
