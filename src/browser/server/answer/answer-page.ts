import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import * as z from "zod";
import type { Log } from "../../../base/log.ts";
import type { IsOwnPeer } from "../../../base/network/peer-users.ts";
import { type BrowseSessionResponse, sessionHeader } from "../../wire/sessions.ts";
import type { CachedResponse } from "../../../serve/cached-response.ts";
import { createRouter } from "../../../serve/router.ts";
import { pathOf } from "../../../wire/http/admission.ts";
import { faultOfRequest } from "../admission/admit-page.ts";
import type { PageSessions } from "../admission/page-sessions.ts";
import type { BrowseRefusal, BrowseRoute } from "../browse-door.ts";
import { toBrowseRequest } from "./browse-request.ts";
import { sendAnswer, sendJson, sendRefusal, toErrorAnswer } from "./send-answer.ts";

/** What requests of the page are answered with. */
export interface AnsweringPage {
  /** The host with its port; empty until it listens. */
  readonly host: () => string;
  readonly files: ReadonlyMap<string, CachedResponse>;
  readonly sessions: () => PageSessions;
  readonly routes: readonly BrowseRoute[];
  readonly readOnly: boolean;
  readonly stopped: AbortSignal;
  /** Gets every response until it is finished. */
  readonly running: Set<ServerResponse>;
  /** Called for each request that has the cookie, or gets it. */
  readonly used: () => void;
  readonly isOwnPeer: IsOwnPeer;
  readonly log: Log;
}

const sessionPath = "/api/session";
const exchange = z.strictObject({ code: z.string().max(256) });

const codeHint = "Open the address that acp-skills browse prints; press Enter there for a new one.";
const notOwn: BrowseRefusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "This page is only for the person who started it: the browser is not known to be theirs.",
};
const notSignedIn: BrowseRefusal = {
  status: 401,
  code: "AUTH_REQUIRED",
  message: "This browser is not signed in.",
  hint: codeHint,
};
const wrongCode: BrowseRefusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "The code is wrong, was used, or is older than five minutes.",
  hint: codeHint,
};
const tooManyCodes: BrowseRefusal = {
  status: 429,
  code: "RATE_LIMITED",
  message: "Too many wrong codes; wait a minute.",
  headers: { "retry-after": "60" },
};
const isReadOnly: BrowseRefusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "This page is read-only.",
  hint: "Start acp-skills browse without --read-only to approve, run, install or open something.",
};

/** Answers requests: who sends them is checked first, and without the cookie only the page itself, which has no secrets, is answered. */
export function answerPage(answering: AnsweringPage): RequestListener {
  const { host, files, sessions, routes, readOnly, stopped, running, used, isOwnPeer, log } = answering;
  const route = createRouter(routes);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    // An encoded slash is part of an id.
    const path = pathOf(url, { mayEncodeSlashes: true });
    const fault = faultOfRequest(request, path, host());
    if (fault !== undefined || path === undefined) {
      if (fault !== undefined) refuse(fault);
      return;
    }
    const isReading = method === "GET" || method === "HEAD";
    const file = isReading ? files.get(path) : undefined;
    if (file !== undefined) {
      sendAnswer(response, { cached: file }, { ifNoneMatch: headers["if-none-match"] });
      return;
    }
    if (!(await isOwnPeer(request.socket))) {
      refuse(notOwn);
      return;
    }
    if (path === sessionPath && method === "POST") {
      await openSession();
      return;
    }
    const { [sessionHeader]: key } = headers;
    if (!sessions().isOpenedBy(headers.cookie, typeof key === "string" ? key : "")) {
      refuse(notSignedIn);
      return;
    }
    used();
    if (readOnly && !isReading) {
      refuse(isReadOnly);
      return;
    }
    const routed = route(method, path);
    if ("refusal" in routed) {
      refuse(routed.refusal);
      return;
    }
    const browseRequest = toBrowseRequest(request, response, { params: routed.params, stopped });
    sendAnswer(response, await routed.route.answer(browseRequest), { ifNoneMatch: headers["if-none-match"] });

    function refuse(refusal: BrowseRefusal): void {
      request.resume();
      sendRefusal(response, refusal);
    }

    async function openSession(): Promise<void> {
      const { code } = await toBrowseRequest(request, response, { params: new Map(), stopped }).json(exchange);
      const opened = sessions().exchange(code);
      if (opened === undefined || opened === "limited") {
        refuse(opened === undefined ? wrongCode : tooManyCodes);
        return;
      }
      used();
      const { cookie, key } = opened;
      sendJson(response, 200, { key } satisfies BrowseSessionResponse, { "set-cookie": cookie });
    }
  }

  return (request, response) => {
    running.add(response);
    response.once("close", () => running.delete(response));
    answer(request, response).catch((error: unknown) => {
      request.resume();
      if (response.destroyed) return;
      const { status, body } = toErrorAnswer(error, log);
      if (response.headersSent) response.destroy();
      else sendJson(response, status, body);
    });
  };
}
