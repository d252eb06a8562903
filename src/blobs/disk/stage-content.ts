import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { blobTooLarge } from "../blob-arguments.ts";
import { SourceFailure } from "./disk-fault.ts";
import { createFlags, fileMode } from "./disk-layout.ts";

const sliceBytes = 512 * 1024;

interface StagedContent {
  readonly size: number;
  readonly sha256: string;
}

export interface StagingOptions<Record> {
  readonly limitBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Writes down what the content is, while it gets onto the disk. */
  readonly record: (staged: StagedContent) => Promise<Record>;
}

/**
 * Writes the content to a new file and returns when it would survive a power cut: a name that leads to half a content would
 * lie. What is written is hashed meanwhile; small chunks are joined, and no more than two slices of them and one chunk is in memory.
 * On failure the file stays, for the caller to remove.
 */
export async function stageContent<Record>(
  file: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { limitBytes, signal, record }: StagingOptions<Record>,
): Promise<Record> {
  const handle = await open(file, createFlags, fileMode);
  try {
    const hash = createHash("sha256");
    let size = 0;
    const write = async (chunk: Uint8Array): Promise<void> => {
      const written = writeWhole(handle, chunk);
      hash.update(chunk);
      await written;
    };
    const joined = joinChunks(write);
    for await (const chunk of fromSource(content, signal)) {
      size += chunk.length;
      if (size > limitBytes) throw blobTooLarge(limitBytes);
      await joined.push(chunk);
    }
    await joined.end();
    const syncing = handle.sync();
    // Awaited below, and by the end of the handle: nothing is written any more once this has failed.
    syncing.catch(() => undefined);
    const recorded = await record({ size, sha256: hash.digest("hex") });
    await syncing;
    return recorded;
  } finally {
    await handle.close();
  }
}

/** Each write is a trip to another thread, and pipes and sockets give small pieces. While a slice is written, the next one fills. */
function joinChunks(write: (chunk: Uint8Array) => Promise<void>): {
  push(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
} {
  let slice: Buffer | undefined;
  let spare: Buffer | undefined;
  let filled = 0;
  let writing: Promise<void> | undefined;
  const flush = async (): Promise<void> => {
    await writing;
    if (slice === undefined || filled === 0) return;
    writing = write(slice.subarray(0, filled));
    // Whoever awaits it next is told.
    writing.catch(() => undefined);
    [slice, spare, filled] = [spare, slice, 0];
  };
  return {
    async end() {
      await flush();
      await writing;
    },
    async push(chunk) {
      if (filled + chunk.length > sliceBytes) await flush();
      if (chunk.length >= sliceBytes) {
        await writing;
        // Its owner may use it again.
        await write(chunk);
        return;
      }
      slice ??= Buffer.allocUnsafeSlow(sliceBytes);
      slice.set(chunk, filled);
      filled += chunk.length;
    },
  };
}

/** A new small file that would survive a power cut, once its name does. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, createFlags, fileMode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    done += (await handle.write(chunk, done, chunk.length - done)).bytesWritten;
  }
}

/** The chunks, with what the source throws, or the signal's reason, wrapped. What their consumer throws never comes by here. */
async function* fromSource(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    signal?.throwIfAborted();
    for await (const chunk of content instanceof Uint8Array ? slices(content) : content) {
      signal?.throwIfAborted();
      yield chunk;
    }
    signal?.throwIfAborted();
  } catch (cause) {
    throw new SourceFailure("the source of a blob failed", { cause });
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}
