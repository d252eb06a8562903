import type { IncomingMessage } from "node:http";
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
  const { method = "", headers, rawHeaders } = request;
  if (countOf("host", rawHeaders) !== 1 || headers.host !== host)
    return { status: 421, code: "INVALID_REQUEST", message: `Host not allowed: open http://${host}/.` };
  const isReading = method === "GET" || method === "HEAD";
  const { origin } = headers;
  if (
    countOf("origin", rawHeaders) > 1 ||
    (origin !== undefined && origin !== `http://${host}`) ||
    (origin === undefined && !isReading)
  )
    return denied("Origin not allowed: only the page itself may send this request.");
  const site = headers["sec-fetch-site"];
  // The document, of which nothing is secret: a person enters its address, or a file on this machine leads to it.
  const isNavigation =
    isReading &&
    path === pagePath &&
    (site === "none" || site === "cross-site") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document";
  if (site !== "same-origin" && !isNavigation)
    return denied(
      site === undefined
        ? "Sec-Fetch-Site is missing: open the page in a current browser."
        : "Sec-Fetch-Site not allowed: open the address that acp-skills browse printed.",
    );
  if (path === undefined)
    return { status: 400, code: "INVALID_REQUEST", message: "Write the path without . or .. segments, or //." };
  return undefined;
}

function denied(message: string): BrowseRefusal {
  return { status: 403, code: "PERMISSION_DENIED", message };
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}

const odd = /\/\/|\\|#|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%00/i;

/** The path of a request target; undefined if it could be read as another path than it seems. An encoded slash is part of an id. */
export function pathOfTarget(target: string): string | undefined {
  if (!target.startsWith("/")) return undefined;
  const [path = ""] = target.split("?", 1);
  return odd.test(path) ? undefined : path;
}
