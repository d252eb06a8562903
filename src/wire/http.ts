// The checks of the HTTP servers before they answer a request (sender, host and origin, path, token, body), and their refusals.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SkillsError, type SkillsErrorCode } from "../base/errors.ts";
import { hasTooManyValues, maxJsonValues } from "../base/json/json-value.ts";
import { type Log, createOnceLog, silentLog } from "../base/log.ts";
import { type PeerUsers, canIdentifyPeerUsers, createPeerUsers } from "../base/network/peer-users.ts";
import { toWireError } from "./error-table.ts";

/** Why a request is refused before it reaches a server. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 421 | 429 | 431 | 503;
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The refusal for closed sessions and unknown paths alike. */
export const nothingHere: HttpRefusal = Object.freeze({
  status: 404,
  code: "INVALID_REQUEST",
  message: "Not found.",
});

export function isRefusal(admitted: object): admitted is HttpRefusal {
  return "status" in admitted && "message" in admitted;
}

/** The refusal of all methods but POST. */
export function onlyPost(): HttpRefusal {
  return { status: 405, code: "INVALID_REQUEST", message: "Method not allowed; use POST.", headers: { allow: "POST" } };
}

/** The refusal of a missing or wrong bearer token (RFC 6750, section 3). */
export function unauthorized(message = "The bearer token is missing or wrong."): HttpRefusal {
  return { status: 401, code: "AUTH_REQUIRED", message, headers: { "www-authenticate": "Bearer" } };
}

/** The body of a refusal: a JSON-RPC error whose id is null. */
function toRefusalBody({ code, message }: Pick<HttpRefusal, "code" | "message">): string {
  // All codes of refusals are in the error table, so nothing is logged.
  const error = toWireError(new SkillsError(code, message), { log: silentLog, newErrorId: () => "" });
  return JSON.stringify({ jsonrpc: "2.0", id: null, error });
}

/** Responds with a JSON-RPC error whose id is null. */
export function refuse(response: ServerResponse, refusal: HttpRefusal): void {
  const { status, headers = {} } = refusal;
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
  response.end(toRefusalBody(refusal));
}

/** Whether the program at the other end of a loopback connection may be answered: it must be of this user or root. Never rejects. */
export type IsOwnPeer = (socket: Socket) => Promise<boolean>;

/**
 * Refuses connections of other users, and connections whose user cannot be determined. If the system reveals no users, admits every
 * connection. `server` is the name of the server in the log.
 */
export function createPeerCheck(
  log: Log,
  server: string,
  peers: PeerUsers | undefined = canIdentifyPeerUsers() ? createPeerUsers() : undefined,
): IsOwnPeer {
  const known = new WeakMap<Socket, Promise<boolean>>();
  const { logOnce } = createOnceLog(log);

  async function isOwn(socket: Socket, { userOf }: PeerUsers): Promise<boolean> {
    const user = await userOf(socket).catch((error: unknown) => {
      const reason = String(error);
      logOnce("warning", `Connections to ${server} are refused because their user cannot be determined: ${reason}`);
      return undefined;
    });
    // While the socket is open here, no other connection can have its port.
    if (!socket.destroyed && (user === 0 || user === process.geteuid?.())) return true;
    if (user !== undefined)
      logOnce("warning", `A connection to ${server} by another user of this machine (uid ${user}) was refused.`);
    return false;
  }

  return (socket) => {
    if (peers === undefined) return Promise.resolve(true);
    const before = known.get(socket) ?? isOwn(socket, peers);
    known.set(socket, before);
    return before;
  };
}

/**
 * Refuses a request with a Host, or an Origin if present, that is not one of this server: against DNS rebinding. `hosts` are host and port
 * in lower case; `origins` are further origins of the same server, such as `https://skills.example`.
 */
export function checkHostAndOrigin(
  { headers: { host, origin }, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  { hosts, origins = [] }: { readonly hosts: readonly string[]; readonly origins?: readonly string[] },
): HttpRefusal | undefined {
  if (host === undefined || isHostRepeated(rawHeaders) || !hosts.includes(host.toLowerCase()))
    return { status: 421, code: "INVALID_REQUEST", message: "Host not allowed." };
  if (origin === undefined) return undefined;
  const given = origin.toLowerCase();
  if (hosts.some((own) => given === `http://${own}`) || origins.includes(given)) return undefined;
  return { status: 403, code: "PERMISSION_DENIED", message: "Origin not allowed." };
}

/** Whether there are two Host lines: a proxy may read the other one. */
function isHostRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

const ambiguous = /\/\/|\\|#|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%00/i;
const encodedSlash = /%2f|%5c/i;

/**
 * The path of a request target; undefined if it has another form, or if another program could read it as another path. These are
 * ambiguous: `.` and `..` segments, encoded or not, empty segments, backslashes, a fragment, and encoded slashes unless they are allowed.
 */
export function pathOf(target: string, { mayEncodeSlashes = false } = {}): string | undefined {
  if (!target.startsWith("/")) return undefined;
  const end = target.indexOf("?");
  const path = end < 0 ? target : target.slice(0, end);
  return ambiguous.test(path) || (!mayEncodeSlashes && encodedSlash.test(path)) ? undefined : path;
}

/** The refusal of a request target without a path that `pathOf` accepts. */
export const ambiguousPath: HttpRefusal = Object.freeze({
  status: 400,
  code: "INVALID_REQUEST",
  message: "Write the path without . or .. segments, or //.",
});

/** A secret of 256 random bits, safe in URLs and headers. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The digest by which a secret is recognised, so that the secret need not be stored. */
export function toTokenDigest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Compares a token with a digest in constant time. */
export function isToken(candidate: string, digest: Buffer): boolean {
  return timingSafeEqual(toTokenDigest(candidate), digest);
}

/** Finds the owner of a token by its digest: the time of the lookup reveals nothing about other tokens. */
export function tokenFinder<Owner extends { readonly tokenDigest: Buffer }>(
  owners: readonly Owner[],
): (token: string) => Owner | undefined {
  const known = new Map(owners.map((owner) => [owner.tokenDigest.toString("base64"), owner]));
  return (token) => {
    const digest = toTokenDigest(token);
    const found = known.get(digest.toString("base64"));
    return found !== undefined && timingSafeEqual(digest, found.tokenDigest) ? found : undefined;
  };
}

/** The token of an `Authorization: Bearer` header (RFC 6750); undefined without one. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([^ ]+) *$/i.exec(authorization ?? "")?.[1];
}

/** The maximum number of bytes of one request. */
export const maxBodyBytes = 16 * 1024 * 1024;

/** The refusal of a body that is larger than the limit. */
export function tooLarge(maxBytes: number): HttpRefusal {
  const message = `The request body is too large; the limit is ${maxBytes} bytes.`;
  return { status: 413, code: "INVALID_REQUEST", message };
}

/**
 * Reads the whole body; undefined if it is too large. Rejects if the client disconnects first. Listens to events, because an iterator or a
 * web stream costs several times as much for each request.
 */
export function readBody(request: IncomingMessage, maxBytes: number = maxBodyBytes): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      // The rest is read and dropped, so that the refusal can be sent.
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

/** Reads the whole body, to be parsed as JSON. Refuses a wrong content type, size, or number of values. Rejects as `readBody` does. */
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

/** Parses a body as JSON. Throws PARSE_ERROR. */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    const text = bytes.toString("utf8");
    // Strict decoding costs more than parsing. This character also stands for bytes that are not UTF-8.
    return JSON.parse(text.includes("\u{FFFD}") ? utf8.decode(bytes) : text);
  } catch {
    throw new SkillsError("PARSE_ERROR", "The request body is not valid JSON.");
  }
}
