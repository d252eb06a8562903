import { type IncomingMessage, type ServerResponse, request as openRequest } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { type Target, toAuthority } from "../../../base/network/target.ts";

export interface ForwardOptions {
  /** Connects to the target; undefined if the client has been told that it is not reached. */
  readonly reach: () => Promise<Socket | undefined>;
  readonly reply: (status: number, text: string) => void;
}

/** Hop-by-hop headers (RFC 9110 7.6.1), and those for proxies. */
const hopByHop = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Forwards a plain HTTP request and its response. Both are parsed and serialised again, on a connection of their own, which prevents
 * request smuggling. The Host header is the one that was checked.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path }: { readonly target: Target; readonly path: string },
  { reach, reply }: ForwardOptions,
): Promise<void> {
  const fault = unforwardable(request);
  if (fault !== undefined) {
    reply(501, fault);
    return;
  }
  const socket = await reach();
  if (socket === undefined) return;
  const fail = (): void => {
    socket.destroy();
    if (response.headersSent) response.destroy();
    else reply(502, `${target.host.text} did not answer as HTTP`);
  };
  try {
    const onward = openRequest({
      createConnection: () => socket,
      method: request.method,
      path,
      headers: { ...endToEnd(request), ...framing(request), host: toAuthority(target) },
      setHost: false,
    });
    onward.once("error", fail);
    onward.once("response", (incoming) => {
      try {
        response.writeHead(incoming.statusCode ?? 502, endToEnd(incoming));
        pipeline(incoming, response, (error) => {
          if (error) fail();
        });
      } catch {
        // Node rejects the status or a header.
        fail();
      }
    });
    request.pipe(onward);
  } catch {
    // Node rejects the path or a header.
    fail();
  }
}

function unforwardable({ headers }: IncomingMessage): string | undefined {
  if (headers.upgrade !== undefined) return "Upgrade requests over plain HTTP are not supported";
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "This transfer encoding is not supported";
  return undefined;
}

/** Framing headers are set by us: a client could have them dropped by naming them in `connection`. */
function framing({ headers }: IncomingMessage): Record<string, string> {
  if (headers["transfer-encoding"] !== undefined) return { "transfer-encoding": "chunked" };
  const length = headers["content-length"];
  return length === undefined ? {} : { "content-length": length };
}

function endToEnd(message: IncomingMessage): NodeJS.Dict<string[]> {
  const named = message.headers.connection?.toLowerCase().split(",") ?? [];
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim())]);
  return Object.fromEntries(Object.entries(message.headersDistinct).filter(([name]) => !dropped.has(name)));
}
