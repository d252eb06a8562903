import type { ServerResponse } from "node:http";
import { type CachedResponse, matchesEtag } from "../../../serve/cached-response.ts";
import type { BrowseError } from "../../wire/skills.ts";
import type { BrowseAnswer, BrowseRefusal } from "../browse-door.ts";

const json = { "content-type": "application/json", "cache-control": "no-store" };

/** Sends an answer with the headers that every answer has. */
export function sendAnswer(
  response: ServerResponse,
  answer: BrowseAnswer,
  { ifNoneMatch }: { readonly ifNoneMatch?: string | undefined } = {},
): void {
  if ("refused" in answer) {
    sendRefusal(response, answer.refused);
  } else if ("cached" in answer) {
    sendCached(response, answer.cached, ifNoneMatch);
  } else if ("download" in answer) {
    const { download, name } = answer;
    const headers = {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]/g, "_").slice(0, 100)}"`,
      "content-length": download.byteLength,
      "cache-control": "no-store",
    };
    response.writeHead(200, { ...pageHeaders, ...headers }).end(download);
  } else if ("stream" in answer) {
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    answer.stream(response);
  } else {
    sendJson(response, answer.status ?? 200, answer.json);
  }
}

export function sendRefusal(response: ServerResponse, { status, code, message, hint, headers }: BrowseRefusal): void {
  const error: BrowseError = { error: { code, message, ...(hint !== undefined && { hint }) } };
  sendJson(response, status, error, headers);
}

/** A script, a style or a list that the browser may cache, but revalidates each time. */
function sendCached(
  response: ServerResponse,
  { body, etag, type }: CachedResponse,
  ifNoneMatch: string | undefined,
): void {
  const headers = { ...pageHeaders, etag, "cache-control": "private, no-cache" };
  if (matchesEtag(ifNoneMatch, etag)) response.writeHead(304, headers).end();
  else response.writeHead(200, { ...headers, "content-type": type, "content-length": body.byteLength }).end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { ...pageHeaders, ...json, ...headers, "content-length": body.length }).end(body);
}

/**
 * Of every answer. Nothing but the page's own scripts runs, nothing leaves for another origin, nobody frames or embeds it, and HTML is made
 * through the page's one policy for trusted types.
 */
const pageHeaders: Readonly<Record<string, string>> = Object.freeze({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "permissions-policy":
    "accelerometer=(), camera=(), clipboard-read=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()",
});
