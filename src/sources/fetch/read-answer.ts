import type { IncomingHttpHeaders } from "node:http";
import { SkillsError } from "../../base/errors.ts";

/** The part of undici's bodies that is used. */
interface Body extends AsyncIterable<Buffer> {
  on(event: "error", listener: () => void): unknown;
  destroy(): unknown;
}

interface Expected {
  readonly host: string;
  readonly maxBytes: number;
  readonly method: string;
  readonly asSent: boolean;
}

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
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  { host, maxBytes, method, asSent }: Expected,
): Promise<Uint8Array> {
  const isSuccess = status >= 200 && status < 300;
  const stop = (error: SkillsError): SkillsError => {
    // Destroying it may fail it a second time.
    body.on("error", () => undefined);
    body.destroy();
    return error;
  };
  if (isSuccess && !asSent && isCompressed(headers)) throw stop(compressed(host));
  if (isSuccess && Number(headers["content-length"] ?? 0) > maxBytes) throw stop(tooLarge(host, maxBytes));
  // Their bodies say nothing that is used.
  if (status >= 300 && status < 400 && method === "GET") {
    body.on("error", () => undefined);
    body.destroy();
    return new Uint8Array();
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
