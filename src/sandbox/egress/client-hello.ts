/** The beginning of a TLS connection, as far as it has arrived. */
export type ClientHello =
  | { readonly type: "incomplete" }
  | { readonly type: "none" }
  /** `hidden`: the true name is encrypted, and the one in the open may be any. */
  | { readonly type: "read"; readonly serverName: string | undefined; readonly hidden: boolean };

/** A ClientHello is a few kilobytes at most, post-quantum keys included. */
const greatest = 32 * 1024;
/** It fits into one record. Whoever cuts it into crumbs wants each of them to be read again with the next. */
const mostRecords = 64;

const handshakeRecord = 22;
const clientHelloMessage = 1;
const serverNameExtension = 0;
const encryptedHelloExtension = 0xfe0d;

class Malformed extends Error {}

/** Reads whom a TLS client says it wants to talk to (RFC 8446 4.1.2, RFC 6066 3), from all the bytes it has sent so far. */
export function readClientHello(bytes: Buffer): ClientHello {
  try {
    const message = joinRecords(bytes);
    if (message !== undefined) return parseMessage(message);
    return { type: bytes.length > greatest ? "none" : "incomplete" };
  } catch (error) {
    if (error instanceof Malformed) return { type: "none" };
    throw error;
  }
}

/** The body of the handshake's first message, which may be spread over records. */
function joinRecords(bytes: Buffer): Buffer | undefined {
  const fragments: Buffer[] = [];
  let rest = bytes;
  let gathered = 0;
  while (rest.length > 0) {
    if (rest[0] !== handshakeRecord || (rest.length > 1 && rest[1] !== 3)) throw new Malformed();
    if (rest.length < 5) return undefined;
    const length = rest.readUInt16BE(3);
    if (length === 0) throw new Malformed();
    const fragment = rest.subarray(5, 5 + length);
    fragments.push(fragment);
    gathered += fragment.length;
    rest = rest.subarray(5 + length);
    if (fragments[0]?.[0] !== undefined && fragments[0][0] !== clientHelloMessage) throw new Malformed();
    if (fragments.length > mostRecords) throw new Malformed();
    if (gathered < 4) continue;
    const size = Buffer.concat(fragments.slice(0, 4)).readUIntBE(1, 3);
    if (size > greatest) throw new Malformed();
    if (gathered >= 4 + size) return Buffer.concat(fragments).subarray(4, 4 + size);
  }
  return undefined;
}

function parseMessage(message: Buffer): ClientHello {
  const body = openFields(message);
  body.skip(2 + 32);
  body.vector(1);
  body.vector(2);
  body.vector(1);
  if (body.isAtEnd()) return { type: "read", serverName: undefined, hidden: false };
  const extensions = openFields(body.vector(2));
  const names: string[] = [];
  let hidden = false;
  while (!extensions.isAtEnd()) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === serverNameExtension) names.push(...parseServerNames(content));
    if (type === encryptedHelloExtension) hidden = true;
  }
  if (names.length > 1) throw new Malformed();
  return { type: "read", serverName: names[0], hidden };
}

function parseServerNames(content: Buffer): string[] {
  const list = openFields(openFields(content).vector(2));
  const names: string[] = [];
  while (!list.isAtEnd()) {
    list.skip(1);
    names.push(list.vector(2).toString("latin1"));
  }
  return names;
}

interface Fields {
  isAtEnd(): boolean;
  number(bytes: number): number;
  skip(bytes: number): void;
  /** Bytes that are preceded by their length, which itself has `lengthBytes`. */
  vector(lengthBytes: number): Buffer;
}

function openFields(bytes: Buffer): Fields {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Malformed();
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (length: number): number => take(length).readUIntBE(0, length);
  return {
    isAtEnd: () => at === bytes.length,
    number,
    skip: (length) => void take(length),
    vector: (lengthBytes) => take(number(lengthBytes)),
  };
}
