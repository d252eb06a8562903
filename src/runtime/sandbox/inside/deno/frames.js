/** Frames over stdin and stdout: length, JSON header, and raw bytes if the header has `bytes`. */

const { stdin, stdout } = Deno;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads between one and `size` bytes; none at the end of the stream. Blocks. */
export function readSome(size) {
  const buffer = new Uint8Array(size);
  const count = stdin.readSync(buffer);
  return count === null ? new Uint8Array(0) : buffer.subarray(0, count);
}

/** The next frame, or undefined at the end of the stream. `raw` is all of it but its payload. */
export function readFrame() {
  const length = readExactly(4);
  if (length === undefined) return undefined;
  const size = new DataView(length.buffer, length.byteOffset).getUint32(0);
  const encoded = readExactly(size);
  if (encoded === undefined) return undefined;
  const header = JSON.parse(decoder.decode(encoded));
  const payload = Number.isInteger(header.bytes) ? readExactly(header.bytes) : undefined;
  return { header, payload, raw: [length, encoded] };
}

/** Sends a whole frame synchronously, so that printed output cannot interleave with it. */
export function writeFrame(header, payload) {
  const whole = payload === undefined ? header : { ...header, bytes: payload.length };
  writeEncoded(encoder.encode(JSON.stringify(whole)), payload);
}

/** Sends a frame whose header is already encoded. */
export function writeEncoded(encoded, payload) {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, encoded.length);
  writeAll(length);
  writeAll(encoded);
  if (payload !== undefined) writeAll(payload);
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) at += stdout.writeSync(bytes.subarray(at));
}

function readExactly(size) {
  const buffer = new Uint8Array(size);
  for (let at = 0; at < size;) {
    const count = stdin.readSync(buffer.subarray(at));
    if (count === null) return undefined;
    at += count;
  }
  return buffer;
}
