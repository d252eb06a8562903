/** The beginning of a TLS connection, as far as it has arrived. */
export type ClientHello =
  | { readonly type: "incomplete" }
  | { readonly type: "invalid" }
  /** `encrypted`: with Encrypted Client Hello, so that the server name in plain text may be any. */
  | { readonly type: "read"; readonly serverName: string | undefined; readonly encrypted: boolean };

const handshakeRecord = 22;
const clientHelloMessage = 1;
const recordHeader = 5;
const largestRecord = 16_384;
const serverNameExtension = 0;
const encryptedHelloExtension = 0xfe0d;

/**
 * Reads the server name that a TLS client asks for (RFC 8446 4.1.2, RFC 6066 3), from all the bytes it has sent so far. A
 * ClientHello that does not fit into one record is invalid: no client that we know splits it.
 */
export function readClientHello(bytes: Buffer): ClientHello {
  if ((bytes[0] ?? handshakeRecord) !== handshakeRecord || (bytes[1] ?? 3) !== 3) return { type: "invalid" };
  if (bytes.length < recordHeader) return { type: "incomplete" };
  const length = bytes.readUInt16BE(3);
  if (length === 0 || length > largestRecord) return { type: "invalid" };
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
