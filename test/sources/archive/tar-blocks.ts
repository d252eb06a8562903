import { checksumOf } from "../../../src/sources/archive/tar-header.ts";

interface Entry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly type?: string;
  readonly target?: string;
  readonly magic?: string;
  readonly prefix?: string;
  readonly mode?: string;
  /** Instead of the length of the content, as the header has it. */
  readonly size?: string;
  readonly checksum?: string;
}

export const endOfTar = Buffer.alloc(1024);

/** One entry of a tar archive, as wrong as it is asked for. */
export function tarEntry({ name, content = "", type = "0", ...more }: Entry): Buffer {
  const bytes = Buffer.from(content);
  const block = Buffer.alloc(512);
  block.write(name, 0, 100);
  block.write(more.mode ?? "0000644\0", 100, "latin1");
  block.write(more.size ?? `${bytes.length.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  block.write("00000000000\0", 136);
  block.write(type, 156, "latin1");
  block.write(more.target ?? "", 157, 100);
  block.write(more.magic ?? "ustar\x0000", 257, "latin1");
  block.write(more.prefix ?? "", 345, 155);
  block.write(more.checksum ?? `${checksumOf(block).toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

/** An extended header of these records. */
export function paxEntry(type: "x" | "g", records: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
    return `${length}${rest}`;
  });
  return tarEntry({ name: "pax_global_header", type, content: lines.join("") });
}

export function tarOf(...entries: readonly (Entry | Buffer)[]): Buffer {
  return Buffer.concat([...entries.map((entry) => (Buffer.isBuffer(entry) ? entry : tarEntry(entry))), endOfTar]);
}
