import { createHash } from "node:crypto";
import { blobTooLarge } from "../../runtime/blobs.ts";
import { BlobSourceFailure } from "./blob-failure.ts";

export const chunkBytes = 1024 * 1024;

export interface CutOptions {
  readonly limitBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Content as chunks of a MiB, the last of which is smaller, and its digests once all of them were read. */
export class CutContent {
  size = 0;
  readonly #content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly #options: CutOptions;
  readonly #whole = createHash("sha256");
  readonly #digests: Buffer[] = [];

  constructor(content: Uint8Array | AsyncIterable<Uint8Array>, options: CutOptions) {
    if (content instanceof Uint8Array && content.length > options.limitBytes) throw blobTooLarge(options.limitBytes);
    this.#content = content;
    this.#options = options;
  }

  get sha256(): Buffer {
    return this.#whole.copy().digest();
  }

  /** The SHA-256 of each chunk, one after the other. */
  get digests(): Buffer {
    return Buffer.concat(this.#digests);
  }

  /** Each chunk has memory of its own, or that of the given bytes. Rejects with BLOB_TOO_LARGE, or with what the source failed with. */
  async *chunks(): AsyncGenerator<Buffer> {
    if (this.#content instanceof Uint8Array) {
      for await (const chunk of this.#pieces(cut(this.#content))) yield this.#count(chunk);
      return;
    }
    const { limitBytes } = this.#options;
    let open: Buffer | undefined;
    let filled = 0;
    for await (const bytes of this.#pieces(this.#content)) {
      if (this.size + filled + bytes.length > limitBytes) throw blobTooLarge(limitBytes);
      for (let at = 0; at < bytes.length;) {
        open ??= Buffer.allocUnsafeSlow(chunkBytes);
        const part = bytes.subarray(at, at + chunkBytes - filled);
        open.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < chunkBytes) continue;
        yield this.#count(open);
        [open, filled] = [undefined, 0];
      }
    }
    if (open !== undefined) yield this.#count(open.subarray(0, filled));
  }

  #count(chunk: Buffer): Buffer {
    this.size += chunk.length;
    this.#whole.update(chunk);
    this.#digests.push(createHash("sha256").update(chunk).digest());
    return chunk;
  }

  /** Wraps errors of the source, but not those of whoever reads the chunks. */
  async *#pieces(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    const { signal } = this.#options;
    try {
      signal?.throwIfAborted();
      for await (const bytes of pieces) {
        signal?.throwIfAborted();
        yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      }
      signal?.throwIfAborted();
    } catch (cause) {
      throw new BlobSourceFailure("The source of a blob failed.", { cause });
    }
  }
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
