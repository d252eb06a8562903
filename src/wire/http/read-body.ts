import type { IncomingMessage } from "node:http";
import { SkillsError } from "../../base/errors.ts";
import { hasTooManyValues, maxJsonValues } from "../../base/json/json-value.ts";
import type { HttpRefusal } from "./refusal.ts";

/** Bytes of one request. */
export const maxBodyBytes = 16 * 1024 * 1024;

/** The body is larger than the limit. */
export function tooLarge(maxBytes: number): HttpRefusal {
  const message = `The request body is too large; the limit is ${maxBytes} bytes.`;
  return { status: 413, code: "INVALID_REQUEST", message };
}

/**
 * The whole body; undefined if it is too large. Rejects if the client disconnects first. Listens to events: an iterator, or a web stream,
 * costs several times as much for each request.
 */
export function readBody(request: IncomingMessage, maxBytes: number = maxBodyBytes): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      // The rest is read and dropped, so that the request can be refused.
      else resolve(undefined);
    });
    request.once("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.once("error", reject);
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("The client disconnected before the request was complete."));
    });
  });
}

/** Whether a `Content-Type` is `application/json`, with or without parameters. */
function isJsonContentType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(contentType);
}

/** The whole body, to be parsed as JSON, or why it is refused: its content type, size, or number of values. Rejects as `readBody` does. */
export async function readJsonBody(
  request: IncomingMessage,
  { maxBytes = maxBodyBytes, maxValues = maxJsonValues }: { readonly maxBytes?: number; readonly maxValues?: number },
): Promise<Buffer | HttpRefusal> {
  if (!isJsonContentType(request.headers["content-type"])) {
    const message = "Send the request with Content-Type: application/json.";
    return { status: 415, code: "INVALID_REQUEST", message };
  }
  const bytes = await readBody(request, maxBytes);
  if (bytes === undefined) return tooLarge(maxBytes);
  if (!hasTooManyValues(bytes, maxValues)) return bytes;
  const message = `The request body has too many keys and values; the limit is ${maxValues}. Send long content as one string.`;
  return { status: 413, code: "INVALID_REQUEST", message };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of a body. Throws PARSE_ERROR. */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    const text = bytes.toString("utf8");
    // Decoding strictly costs more than parsing; this character also stands for what is not UTF-8.
    return JSON.parse(text.includes("\u{FFFD}") ? utf8.decode(bytes) : text);
  } catch {
    throw new SkillsError("PARSE_ERROR", "The request body is not valid JSON.");
  }
}
