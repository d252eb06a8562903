import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  readonly stored?: boolean;
  /** Of Unix, with the type. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  /** Instead of the name, in the local header. */
  readonly localName?: string;
  /** Instead of where it is. */
  readonly offset?: number;
}

/** A zip archive, as wrong as it is asked for. */
export function zipOf(files: readonly ZipFile[], { comment = "", count = files.length, before = "" } = {}): Buffer {
  const locals: Buffer[] = [Buffer.from(before)];
  const centrals: Buffer[] = [];
  let offset = Buffer.byteLength(before);
  for (const file of files) {
    const name = Buffer.from(file.name);
    const content = Buffer.from(file.content ?? "");
    const isStored = file.stored === true || content.length === 0;
    const packed = isStored ? content : deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(file.flags ?? 0x0800, 2);
    common.writeUInt16LE(file.method ?? (isStored ? 0 : 8), 4);
    common.writeUInt32LE(file.crc ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(file.size ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(file.localName ?? name), packed]);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE(((file.mode ?? 0o100644) << 16) >>> 0, 6);
    attributes.writeUInt32LE(file.offset ?? offset, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), common, attributes, name]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}
