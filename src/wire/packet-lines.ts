/** The framing of git's protocol: four hexadecimal digits of length, which counts them, then the text. */

export const flushPacket = "0000";

export function packetLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, "0")}${text}`;
}

/** The texts of all packets, without flush and delimiter packets; undefined if the bytes are not such packets. */
export function readPackets(bytes: Uint8Array): readonly string[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: string[] = [];
  for (let at = 0; at < buffer.length;) {
    const digits = buffer.toString("latin1", at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
    const length = Number.parseInt(digits, 16);
    if (length === 3) return undefined;
    if (length < 4) at += 4;
    else if (at + length > buffer.length) return undefined;
    else {
      packets.push(buffer.toString("utf8", at + 4, at + length));
      at += length;
    }
  }
  return packets;
}
