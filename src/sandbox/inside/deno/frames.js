/** Frames over the process's own stdin and stdout: length, JSON header, and raw bytes where the header has `bytes`. */

const { stdin, stdout } = Deno;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Some bytes from the host, at most `size`; none when it has hung up. Waits. */
export function readSome(size) {
  const buffer = new Uint8Array(size);
  const count = stdin.readSync(buffer);
  return count === null ? new Uint8Array(0) : buffer.subarray(0, count);
}

/** The next frame of the host, or undefined when it has hung up. `raw` is all of it but its payload. */
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

/** Sends a frame whole, in one go: nothing printed in between can tear it. */
export function writeFrame(header, payload) {
  const whole = payload === undefined ? header : { ...header, bytes: payload.length };
  writeEncoded(encoder.encode(JSON.stringify(whole)), payload);
}

/** The same for a header that is encoded already. */
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
