import type { ServerResponse } from "node:http";
import { type CachedResponse, matchesEtag } from "../../../serve/cached-response.ts";
import type { BrowseError } from "../../wire/skills.ts";
import type { BrowseAnswer, BrowseRefusal } from "../browse-door.ts";
import { type SkillsErrorCode, isSkillsError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { toWireError } from "../../../wire/error-table.ts";

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

const statuses: Partial<Record<SkillsErrorCode, number>> = {
  INTERNAL: 500,
  SKILL_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  BLOB_NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  AUTH_REQUIRED: 401,
  FILE_TOO_LARGE: 413,
  BLOB_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 429,
  RATE_LIMITED: 429,
  RUNTIME_BUSY: 429,
  SKILL_NOT_READY: 409,
  SANDBOX_UNAVAILABLE: 503,
  ENDPOINT_UNREACHABLE: 502,
  EXECUTION_TIMEOUT: 504,
};

/** Errors whose message is shown only to this person: which of their files cannot be used, what is wrong with a source that they named. */
const ofThisPerson: Partial<Record<SkillsErrorCode, number>> = {
  UNREADABLE: 500,
  SOURCE_INVALID: 502,
  INVALID_OPTIONS: 400,
};

/** The answer to a request that failed. What is not ours is logged, and answered with the id to search the log for. */
export function toErrorAnswer(error: unknown, log: Log): { readonly status: number; readonly body: BrowseError } {
  const own = isSkillsError(error) ? ofThisPerson[error.code] : undefined;
  if (isSkillsError(error) && own !== undefined) {
    const { code, message, facts } = error;
    const { hint } = facts;
    if (own === 500) log("error", message);
    return { status: own, body: { error: { code, message, ...(typeof hint === "string" && { hint }) } } };
  }
  const { message, data } = toWireError(error, { log });
  const { code, hint, violations } = data;
  const where = violations?.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ");
  const advice = hint ?? where;
  return {
    status: statuses[code] ?? 400,
    body: { error: { code, message, ...(advice !== undefined && { hint: advice }) } },
  };
}
