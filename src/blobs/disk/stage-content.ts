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
  /** Writes the record of the content while the content is being synced. */
  readonly record: (staged: StagedContent) => Promise<Record>;
}

/**
 * Writes the content to a new file and resolves when it is durable, so that no name can lead to incomplete content. Hashes while
 * writing and joins small chunks; at most two slices and one chunk are in memory.
 * After a failure, the caller removes the file.
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
    // Awaited below. Prevents an unhandled rejection in the meantime.
    syncing.catch(() => undefined);
    const recorded = await record({ size, sha256: hash.digest("hex") });
    await syncing;
    return recorded;
  } finally {
    await handle.close();
  }
}

/** Joins chunks, because each write uses another thread, and pipes and sockets produce small chunks. Fills a slice while another is written. */
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
    // The next await of `writing` throws the error.
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
        // The caller may reuse the chunk afterwards.
        await write(chunk);
        return;
      }
      slice ??= Buffer.allocUnsafeSlow(sliceBytes);
      slice.set(chunk, filled);
      filled += chunk.length;
    },
  };
}

/** Writes a new small file and syncs its content, but not its directory entry. */
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

/** The chunks of the source. Wraps errors of the source and the reason of the signal, but not errors of the consumer. */
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
