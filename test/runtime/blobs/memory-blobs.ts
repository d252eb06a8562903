import { createHash } from "node:crypto";
import type { SkillsError } from "../../../src/base/errors.ts";
import type { BlobOptions, BlobStore, BlobUpkeep, ListedBlob, StoredBlob, Swept } from "../../../src/runtime/blobs.ts";
import {
  blobNotFound,
  blobTooLarge,
  checkKind,
  CountedUsage,
  newBlobId,
  quotaRefusal,
  storeClosed,
  withBlobDefaults,
  withinBlob,
} from "../../../src/runtime/blobs/blob-rules.ts";

export interface MemoryBlobOptions extends BlobOptions {
  /** The current time in milliseconds since 1970. */
  readonly now?: () => number;
}

interface Entry {
  readonly listed: ListedBlob;
  readonly bytes: Uint8Array;
  holds: number;
}

const chunkBytes = 64 * 1024;

/** A blob store in memory. */
export function memoryBlobs({ now = () => Date.now(), ...options }: MemoryBlobOptions = {}): BlobStore & BlobUpkeep {
  const settings = withBlobDefaults(options);
  const entries = new Map<string, Entry>();
  const usage = new CountedUsage();
  let closed = false;

  const whileOpen = (): void => {
    if (closed) throw storeClosed();
  };
  const find = (owner: string, id: string): Entry => {
    whileOpen();
    const entry = entries.get(id);
    if (entry?.listed.owner !== owner) throw blobNotFound(id);
    return entry;
  };
  const forget = ({ listed }: Entry): void => {
    entries.delete(listed.id);
    usage.change(listed.owner, -listed.size, -1);
  };
  const sweepNow = (): Swept => {
    const expired = [...entries.values()].filter(({ listed }) => listed.expiresAt <= now());
    const unused = expired.filter(({ holds }) => holds === 0);
    unused.forEach(forget);
    const freedBytes = unused.reduce((sum, { listed }) => sum + listed.size, 0);
    return { removed: unused.length, freedBytes, held: expired.length - unused.length };
  };
  const refusal = (owner: string, size: number): SkillsError | undefined => quotaRefusal(usage, owner, size, settings);

  return {
    async put(owner, kind, content, { signal } = {}) {
      whileOpen();
      checkKind(kind);
      const bytes = await gather(content, settings.maxBlobBytes, signal);
      whileOpen();
      if (refusal(owner, bytes.length) !== undefined) sweepNow();
      const refused = refusal(owner, bytes.length);
      if (refused !== undefined) throw refused;
      const blob: StoredBlob = {
        id: newBlobId(),
        size: bytes.length,
        kind,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      };
      const createdAt = now();
      const listed = { ...blob, owner, createdAt, expiresAt: createdAt + settings.ttlMs };
      entries.set(blob.id, { listed, bytes, holds: 0 });
      usage.change(owner, blob.size, 1);
      return blob;
    },
    async stat(owner, id) {
      const { size, kind, sha256 } = find(owner, id).listed;
      return Promise.resolve({ id, size, kind, sha256 });
    },
    async *read(owner, id, range = {}) {
      const { bytes } = find(owner, id);
      const { start, end } = withinBlob(range, bytes.length);
      for (let at = start; at < end; at += chunkBytes) {
        yield await Promise.resolve(new Uint8Array(bytes.subarray(at, Math.min(at + chunkBytes, end))));
      }
    },
    async hold(owner, id) {
      const entry = find(owner, id);
      entry.holds += 1;
      let held = true;
      return Promise.resolve(async () => {
        if (held) entry.holds -= 1;
        held = false;
        return Promise.resolve();
      });
    },
    async remove(owner, id) {
      forget(find(owner, id));
      return Promise.resolve();
    },
    async *list() {
      whileOpen();
      yield* await Promise.resolve([...entries.values()].map(({ listed }) => listed));
    },
    async sweep() {
      whileOpen();
      return Promise.resolve(sweepNow());
    },
    async close() {
      closed = true;
      entries.clear();
      return Promise.resolve();
    },
  };
}

/** Copies the content, so that callers cannot change it later. Not with `slice`, because `Buffer#slice` shares memory. */
async function gather(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  signal?.throwIfAborted();
  if (content instanceof Uint8Array) {
    if (content.length > limit) throw blobTooLarge(limit);
    return new Uint8Array(content);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    signal?.throwIfAborted();
    size += chunk.length;
    if (size > limit) throw blobTooLarge(limit);
    chunks.push(new Uint8Array(chunk));
  }
  signal?.throwIfAborted();
  return Buffer.concat(chunks);
}
