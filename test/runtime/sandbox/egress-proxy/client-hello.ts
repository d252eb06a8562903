/** Builds a ClientHello by hand, including ones that no real client would send. */
export function clientHello(wanted: { names: string[]; again?: string; encrypted?: boolean }): Buffer {
  const serverNames = (names: string[]): Buffer =>
    extension(
      0,
      sized(2, Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))])))),
    );
  const extensions = [
    serverNames(wanted.names),
    ...(wanted.again === undefined ? [] : [serverNames([wanted.again])]),
    ...(wanted.encrypted === true ? [extension(0xfe0d, Buffer.from([0, 1, 2, 3]))] : []),
  ];
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    sized(1, Buffer.alloc(0)),
    sized(2, Buffer.from([0x13, 0x01])),
    sized(1, Buffer.from([0])),
    sized(2, Buffer.concat(extensions)),
  ]);
  return Buffer.concat([Buffer.from([1]), sized(3, body)]);
}

/** Splits a handshake message into TLS records of at most `size` bytes. */
export function inRecords(message: Buffer, size = 16_384): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    records.push(Buffer.from([22, 3, 1]), sized(2, message.subarray(at, at + size)));
  }
  return Buffer.concat(records);
}

function extension(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(type);
  return Buffer.concat([head, sized(2, content)]);
}

function sized(lengthBytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}
