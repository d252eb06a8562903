import type { IncomingHttpHeaders } from "node:http";
import { SkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import type { RemoteAnswer, RemoteRequest } from "../fetch.ts";

/** The part of undici's bodies that is used. */
interface Body extends AsyncIterable<Buffer> {
  on(event: "error", listener: () => void): unknown;
  destroy(): unknown;
}

type Expected = Required<Pick<RemoteRequest, "maxBytes" | "method" | "asSent" | "staysThere">> & {
  readonly host: string;
};

/** Names in lower case; of repeated headers the first. */
export function toHeaders(received: IncomingHttpHeaders): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(received)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name.toLowerCase()] = first;
  }
  return headers;
}

/**
 * The bytes of an answer, counted as they arrive. Of an answer that is no success, at most `maxBytes` are read. Throws FILE_TOO_LARGE, and
 * SOURCE_INVALID for a compressed answer, unless it is wanted as it was sent: identity was requested, and what a compressed one grows to is
 * unknown.
 */
export async function readResponseBody(
  body: Body,
  { status, headers }: Pick<RemoteAnswer, "status" | "headers">,
  { host, maxBytes, method, asSent, staysThere }: Expected,
): Promise<Uint8Array> {
  const isSuccess = status >= 200 && status < 300;
  // What HEAD announces is not sent.
  const isTooLarge = isSuccess && method !== "HEAD" && Number(headers["content-length"] ?? 0) > maxBytes;
  const isRefused = isSuccess && !asSent && isCompressed(headers);
  // Their bodies say nothing that is used.
  const isRedirect = status >= 300 && status < 400 && method === "GET" && !staysThere;
  if (isRefused || isTooLarge || isRedirect) {
    // Destroying it may fail it a second time.
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

/** What a person can do about 401 and 403. */
export const needsCredentials =
  "which needs credentials: --token env:NAME of acp-skills add, update, discover and find, or the URL of a share (/s/TOKEN/) from its publisher";

/** The answer if its status is 200. Otherwise throws: never with the path or query of the URL, which can hold a token. `what` is a noun. */
export function requireSuccess(answer: RemoteAnswer, what: string, now?: number): RemoteAnswer {
  if (answer.status === 200) return answer;
  throw noSuccess(answer, what, { needs: needsCredentials }, now);
}

/** The error for an answer without success; `needs`: what a person can do about 401 and 403, `said`: what the host says of it. */
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
