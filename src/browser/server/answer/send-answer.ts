import type { ServerResponse } from "node:http";
import { matchesEtag } from "../../../serve/cached-response.ts";
import type { BrowseError } from "../../wire/skills.ts";
import type { BrowseAnswer, BrowseRefusal } from "../browse-context.ts";
import { type SkillsErrorCode, isSkillsError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { toWireError } from "../../../wire/error-table.ts";

/** Sends an answer with the headers that every answer has. Scripts, styles and lists may be cached, but are revalidated each time. */
export function sendAnswer(response: ServerResponse, answer: BrowseAnswer, ifNoneMatch?: string): void {
  const send = (status: number, type: string, body: Uint8Array, headers: BrowseRefusal["headers"]): void => {
    const described = { "content-type": type, "content-length": body.byteLength, "cache-control": "no-store" };
    response.writeHead(status, { ...pageHeaders, ...described, ...headers }).end(body);
  };
  const sendJson = (status: number, value: unknown, headers: BrowseRefusal["headers"]): void =>
    send(status, "application/json", Buffer.from(JSON.stringify(value)), headers);
  if ("refused" in answer) {
    const { status, code, message, hint, headers } = answer.refused;
    sendJson(status, { error: { code, message, hint } } satisfies BrowseError, headers);
  } else if ("cached" in answer) {
    const { body, etag, type } = answer.cached;
    const headers = { etag, "cache-control": "private, no-cache" };
    if (matchesEtag(ifNoneMatch, etag)) response.writeHead(304, { ...pageHeaders, ...headers }).end();
    else send(200, type, body, headers);
  } else if ("download" in answer) {
    const name = answer.name.replace(/[^\w.-]/g, "_").slice(0, 100);
    const headers = { "content-disposition": `attachment; filename="${name}"` };
    send(200, "application/octet-stream", answer.download, headers);
  } else if ("stream" in answer) {
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    answer.stream(response);
  } else sendJson(answer.status ?? 200, answer.json, answer.headers);
}

/**
 * Headers of every answer. Only the page's own scripts run. They can make neither HTML nor a policy for trusted types. Nothing is sent to
 * another origin, and no page frames or embeds this one.
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

/** Errors whose message is shown to the user only: a file of theirs that cannot be used, or a faulty source that they named. */
const ofThisUser: Partial<Record<SkillsErrorCode, number>> = {
  UNREADABLE: 500,
  SOURCE_INVALID: 502,
  INVALID_OPTIONS: 400,
};

/** The answer to a request that failed. An error that is no SkillsError is logged; the answer has the id to search the log for. */
export function toRefusal(error: unknown, log: Log): BrowseRefusal {
  const status = isSkillsError(error) ? ofThisUser[error.code] : undefined;
  if (isSkillsError(error) && status !== undefined) {
    const { code, message, facts } = error;
    if (status === 500) log("error", message);
    return { status, code, message, hint: typeof facts.hint === "string" ? facts.hint : undefined };
  }
  const { message, data } = toWireError(error, { log });
  const { code, hint, violations } = data;
  const where = violations?.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ");
  return { status: statuses[code] ?? 400, code, message, hint: hint ?? where };
}
