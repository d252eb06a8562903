import type { IncomingHttpHeaders } from "node:http";
import { SkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import type { RemoteAnswer, RemoteRequest } from "../fetch.ts";

/** The subset of undici's bodies that is used. */
interface Body extends AsyncIterable<Buffer> {
  on(event: "error", listener: () => void): unknown;
  destroy(): unknown;
}

type Expected = Required<Pick<RemoteRequest, "maxBytes" | "method" | "asSent" | "staysThere">> & {
  readonly host: string;
};

/** Converts headers to names in lower case; of repeated headers the first counts. */
export function toHeaders(received: IncomingHttpHeaders): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(received)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name.toLowerCase()] = first;
  }
  return headers;
}

/**
 * Reads the bytes of an answer and counts them as they arrive. An answer without success is cut at `maxBytes`. Throws FILE_TOO_LARGE, and
 * SOURCE_INVALID for a compressed answer unless `asSent`: identity was requested, and the unpacked size is unknown.
 */
export async function readResponseBody(
  body: Body,
  { status, headers }: Pick<RemoteAnswer, "status" | "headers">,
  { host, maxBytes, method, asSent, staysThere }: Expected,
): Promise<Uint8Array> {
  const isSuccess = status >= 200 && status < 300;
  // HEAD announces a length, but sends no body.
  const isTooLarge = isSuccess && method !== "HEAD" && Number(headers["content-length"] ?? 0) > maxBytes;
  const isRefused = isSuccess && !asSent && isCompressed(headers);
  // The bodies of redirects are not used.
  const isRedirect = status >= 300 && status < 400 && method === "GET" && !staysThere;
  if (isRefused || isTooLarge || isRedirect) {
    // Destroying the body may raise a second error.
    body.on("error", () => undefined);
    body.destroy();
    if (isRedirect) return new Uint8Array();
    throw isRefused ? compressed(host) : tooLarge(host, maxBytes);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes && isSuccess) throw tooLarge(host, maxBytes);
    chunks.push(length > maxBytes ? chunk.subarray(0, chunk.length - (length - maxBytes)) : chunk);
    if (length >= maxBytes && !isSuccess) break;
  }
  return Buffer.concat(chunks);
}

export function isCompressed(headers: Readonly<Record<string, string>>): boolean {
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  return coding !== "identity" && coding !== "";
}

export function compressed(host: string): SkillsError {
  const message = `${host} sent a compressed answer (Content-Encoding) although identity was requested; its publisher must turn that off for this URL.`;
  return new SkillsError("SOURCE_INVALID", message);
}

function tooLarge(host: string, limitBytes: number): SkillsError {
  const message = `${host} sent more than ${limitBytes} bytes, the limit for this answer.`;
  return new SkillsError("FILE_TOO_LARGE", message, { facts: { limitBytes } });
}

const codes: Readonly<Record<number, SkillsErrorCode>> = {
  401: "AUTH_REQUIRED",
  403: "PERMISSION_DENIED",
  429: "RATE_LIMITED",
};

/** The advice for status 401 and 403, as a clause. */
export const needsCredentials =
  "which needs credentials: --token env:NAME of acp-skills add, update, discover and find, or the URL of a share (/s/TOKEN/) from its publisher";

/** Returns the answer if its status is 200, else throws without the URL's path and query, which can hold a token. `what` is a noun. */
export function requireSuccess(answer: RemoteAnswer, what: string, now?: number): RemoteAnswer {
  if (answer.status === 200) return answer;
  throw noSuccess(answer, what, { needs: needsCredentials }, now);
}

/** Returns the error for an answer without success. `needs`: the advice for 401 and 403; `said`: the host's own words about it. */
export function noSuccess(
  { status, headers, url }: RemoteAnswer,
  what: string,
  { needs, said = "", code = "ENDPOINT_UNREACHABLE" }: { needs: string; said?: string; code?: SkillsErrorCode },
  now: number = Date.now(),
): SkillsError {
  const { host } = new URL(url);
  const seconds = retryAfterSeconds(headers, now);
  const advice = seconds === undefined ? "" : `; try again after ${seconds} s`;
  const reason = status === 401 || status === 403 ? `, ${needs}` : "";
  const message = `${host} answered with status ${status}${said} for ${what}${reason}${advice}.`;
  const facts = { status, ...(seconds !== undefined && { retryAfterSeconds: seconds }) };
  return new SkillsError(codes[status] ?? code, message, { facts });
}

const maxRetryAfterSeconds = 24 * 60 * 60;

/** How long a server asks to wait, in whole seconds of at most a day; undefined if it says nothing. `now`: milliseconds since 1970. */
export function retryAfterSeconds(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"]?.trim();
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,12}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), maxRetryAfterSeconds);
}
