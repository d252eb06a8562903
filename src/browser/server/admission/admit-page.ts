import type { IncomingMessage } from "node:http";
import { ambiguousPath, checkHostAndOrigin } from "../../../wire/http.ts";
import type { BrowseRefusal } from "../browse-door.ts";

/** The path whose document a person opens by its address. */
export const pagePath = "/";

/**
 * Why a request is not answered at all, whoever sends it: it is for another host (DNS rebinding), or another site makes the browser send it.
 * `host`: ours with its port.
 */
export function faultOfRequest(
  request: IncomingMessage,
  path: string | undefined,
  host: string,
): BrowseRefusal | undefined {
  const refusal = checkHostAndOrigin(request, { hosts: [host] });
  if (refusal !== undefined) return { ...refusal, message: `${refusal.message} Open http://${host}/.` };
  const { method = "", headers } = request;
  const isReading = method === "GET" || method === "HEAD";
  if (headers.origin === undefined && !isReading)
    return forbidden("Origin not allowed: only the page itself may send this request.");
  const site = headers["sec-fetch-site"];
  // The document, of which nothing is secret: a person enters its address, or a file on this machine leads to it.
  const isNavigation =
    isReading &&
    path === pagePath &&
    (site === "none" || site === "cross-site") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document";
  if (site !== "same-origin" && !isNavigation)
    return forbidden(
      site === undefined
        ? "Sec-Fetch-Site is missing: open the page in a current browser."
        : "Sec-Fetch-Site not allowed: open the address that acp-skills browse printed.",
    );
  return path === undefined ? ambiguousPath : undefined;
}

export function forbidden(message: string, hint?: string): BrowseRefusal {
  return { status: 403, code: "PERMISSION_DENIED", message, hint };
}
