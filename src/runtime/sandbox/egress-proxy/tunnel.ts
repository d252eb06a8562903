import type { Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { type IncomingMessage, type ServerResponse, request as openRequest } from "node:http";
import { type Target, canonicalHost, toAuthority } from "../../../base/network/address.ts";

/** Connects to the target; undefined if the client was sent an error response. */
type Reach = () => Promise<Socket | undefined>;

/** A fatal TLS alert, `unrecognized_name`, which clients show by name. */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * Answers a CONNECT: connects the client with the checked address. The connection must begin with TLS for exactly the allowed name.
 * Otherwise one allowed host would open the thousands of hosts behind the addresses of a CDN. A literal address has no name to compare.
 * Nothing inside TLS is read. `onFronting` is called if the client asks TLS for another server than in its CONNECT; it must not throw.
 */
export async function openTunnel(
  client: Duplex,
  head: Buffer,
  target: Target,
  { reach, onFronting }: { readonly reach: Reach; readonly onFronting: (target: Target) => void },
): Promise<void> {
  const socket = await reach();
  if (socket === undefined) return;
  // The client is not destroyed: its last bytes may not be written yet. It is still read, so that its end is noticed.
  socket.once("close", () => client.end().resume());
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  const first = target.host.address === undefined ? await readHello(client, head, target) : head;
  if (first === undefined) {
    socket.destroy();
    if (client.destroyed || client.readableEnded) return;
    onFronting(target);
    client.end(alert).resume();
    return;
  }
  socket.write(first);
  client.pipe(socket);
  socket.pipe(client);
}

/**
 * All bytes up to the end of a ClientHello for exactly this host; undefined for anything else. Waits as long as the client is
 * connected.
 */
async function readHello(client: Duplex, head: Buffer, { host }: Target): Promise<Buffer | undefined> {
  for (let bytes = head; ;) {
    const hello = readClientHello(bytes);
    if (hello.type === "invalid") return undefined;
    if (hello.type === "read") {
      const { serverName, encrypted } = hello;
      const isAllowed = !encrypted && serverName !== undefined && canonicalHost(serverName)?.text === host.text;
      return isAllowed ? bytes : undefined;
    }
    const more = client.destroyed ? undefined : await nextBytes(client);
    if (more === undefined) return undefined;
    bytes = Buffer.concat([bytes, more]);
  }
}

function nextBytes(client: Duplex): Promise<Buffer | undefined> {
  return new Promise((answerWith) => {
    const stop = (): void => {
      client.pause();
      client.off("data", take).off("end", end).off("close", end);
    };
    const take = (bytes: Buffer): void => {
      stop();
      answerWith(bytes);
    };
    const end = (): void => {
      stop();
      answerWith(undefined);
    };
    client.on("data", take).on("end", end).on("close", end);
    client.resume();
  });
}

/** The beginning of a TLS connection, as far as it has arrived. */
export type ClientHello =
  | { readonly type: "incomplete" }
  | { readonly type: "invalid" }
  /** `encrypted`: with Encrypted Client Hello, so that the server name in plain text may be any. */
  | { readonly type: "read"; readonly serverName: string | undefined; readonly encrypted: boolean };

const handshakeRecord = 22;
const clientHelloMessage = 1;
const recordHeader = 5;
const maxRecordBytes = 16_384;
const serverNameExtension = 0;
const encryptedHelloExtension = 0xfe0d;

/**
 * Reads the server name that a TLS client asks for (RFC 8446 4.1.2, RFC 6066 3). Takes all bytes that the client has sent so far. A
 * ClientHello that does not fit into one record is invalid: no known client splits it.
 */
export function readClientHello(bytes: Buffer): ClientHello {
  if ((bytes[0] ?? handshakeRecord) !== handshakeRecord || (bytes[1] ?? 3) !== 3) return { type: "invalid" };
  if (bytes.length < recordHeader) return { type: "incomplete" };
  const length = bytes.readUInt16BE(3);
  if (length === 0 || length > maxRecordBytes) return { type: "invalid" };
  if (bytes.length < recordHeader + length) return { type: "incomplete" };
  try {
    return parseMessage(bytes.subarray(recordHeader, recordHeader + length));
  } catch (error) {
    if (error instanceof RangeError) return { type: "invalid" };
    throw error;
  }
}

function parseMessage(record: Buffer): ClientHello {
  const message = new Fields(record);
  if (message.number(1) !== clientHelloMessage) return { type: "invalid" };
  const body = new Fields(message.vector(3));
  body.take(2 + 32); // Version and random.
  body.vector(1); // Session id.
  body.vector(2); // Cipher suites.
  body.vector(1); // Compression methods.
  const extensions = new Fields(body.isAtEnd ? Buffer.alloc(0) : body.vector(2));
  const names: string[] = [];
  let encrypted = false;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === serverNameExtension) names.push(...parseServerNames(content));
    if (type === encryptedHelloExtension) encrypted = true;
  }
  return names.length > 1 ? { type: "invalid" } : { type: "read", serverName: names[0], encrypted };
}

function parseServerNames(content: Buffer): string[] {
  const list = new Fields(new Fields(content).vector(2));
  const names: string[] = [];
  while (!list.isAtEnd) {
    list.take(1); // The type of the name; only host names are defined.
    names.push(list.vector(2).toString("latin1"));
  }
  return names;
}

/** Reads TLS fields. Throws a `RangeError` past the end. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError("The message is too short.");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** Bytes preceded by their length, which takes `lengthBytes`. */
  vector(lengthBytes: number): Buffer {
    return this.take(this.number(lengthBytes));
  }
}

/** Hop-by-hop headers (RFC 9110 7.6.1), and those for proxies. */
export const hopByHop: readonly string[] = [
  ...["connection", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["proxy-authenticate", "proxy-authorization", "proxy-connection"],
];

/**
 * Forwards a plain HTTP request and its response. Both are parsed and serialised again, on a connection of their own, which prevents
 * request smuggling. The Host header is the one that was checked.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path }: { readonly target: Target; readonly path: string },
  { reach, reply }: { readonly reach: Reach; readonly reply: (status: number, text: string) => void },
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

/** Sets the framing headers anew: a client could have them dropped by naming them in `connection`. */
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
