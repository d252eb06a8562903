import { createHash } from "node:crypto";
import { SkillsError } from "../../base/errors.ts";
import { type BlobRange, blobNotFound, withinBlob } from "../../runtime/blobs.ts";
import type { BlobContext } from "./blob-holder.ts";
import { toOwnerHash } from "./blob-rows.ts";
import { chunkBytes, objectBytes, toObjectName } from "./object-store.ts";

/** Chunks that are read at once: enough for a blob of the default limit. The next window is read while the reader consumes this one. */
const windowChunks = 12;
const pieceBytes = 64 * 1024;

interface FoundContent {
  readonly size: number;
  readonly upload: number;
  /** The prefix of the objects' names; null for chunks in the database. */
  readonly object: string | null;
  /** The digests of all chunks, one after the other, in hexadecimal. */
  readonly digests: string;
}

/** Chunks by their number, without missing and damaged ones. */
type Chunks = ReadonlyMap<number, Buffer>;

/**
 * Reads a range. Verifies each chunk that the range touches before it yields a byte of the chunk. A small range thus reads at most 2 MiB,
 * and damage elsewhere is not seen. A range beyond the first chunks holds the bytes: it can be read to its end after their removal.
 */
export async function* readContent(
  context: BlobContext,
  owner: string,
  id: string,
  range: BlobRange,
): AsyncGenerator<Uint8Array> {
  const asked = withinBlob(range, Number.MAX_SAFE_INTEGER);
  const first = Math.floor(asked.start / chunkBytes);
  const atMost = Math.ceil(asked.end / chunkBytes) - 1;
  let { content, chunks } = await openRange(context, owner, id, first, atMost);
  const { start, end } = withinBlob(range, content.size);
  if (start >= end) return;
  const last = Math.ceil(end / chunkBytes) - 1;
  const isInDatabase = content.object === null;
  let release: (() => Promise<void>) | undefined;
  for (let attempt = 0; release === undefined && (!isInDatabase || last >= first + windowChunks); attempt++) {
    // Another put of equal bytes may replace these at any time.
    if (attempt > 5) throw new SkillsError("RUNTIME_BUSY", "The blob is being replaced again and again.");
    if (attempt > 0) ({ content, chunks } = await openRange(context, owner, id, first, atMost));
    release = await context.holder.hold({ upload: content.upload });
  }
  try {
    let window = isInDatabase ? Promise.resolve(chunks) : readWindow(context, content, first, last);
    for (let number = first; number <= last;) {
      const found = await window;
      const next = number + windowChunks;
      if (next <= last) window = readWindow(context, content, next, last);
      // A reader that stops early never awaits this promise.
      window.catch(() => undefined);
      for (; number < next && number <= last; number++) {
        const bytes = found.get(number);
        if (bytes === undefined) throw new SkillsError("INTERNAL", "The blob's bytes are damaged; it cannot be read.");
        const stop = Math.min(end - number * chunkBytes, bytes.length);
        for (let at = Math.max(0, start - number * chunkBytes); at < stop; at += pieceBytes)
          yield bytes.subarray(at, Math.min(at + pieceBytes, stop));
      }
    }
  } finally {
    await release?.();
  }
}

/** Finds the content of a blob and, in the same snapshot, its chunks from number `first` on. Throws BLOB_NOT_FOUND. */
async function openRange(
  { database }: BlobContext,
  owner: string,
  id: string,
  first: number,
  atMost: number,
): Promise<{ content: FoundContent; chunks: Chunks }> {
  let content: FoundContent | undefined;
  const chunks = new Map<number, Buffer>();
  let number = first;
  await database.readBytes(
    `with found as materialized (
       select blobs.size, upload, object, digests
       from acp_skills.blobs join acp_skills.blob_contents using (sha256)
         join acp_skills.blob_uploads on blob_uploads.id = upload
       where blobs.id = current_setting('acp_skills.v1')
         and owner = decode(current_setting('acp_skills.v2'), 'hex')
     )
     select bytes from (
       select -1 as number, convert_to(json_build_object('size', size, 'upload', upload, 'object', object,
         'digests', encode(digests, 'hex'))::text, 'UTF8') as bytes from found
       union all
       select number, bytes from found join acp_skills.blob_chunks using (upload)
       where number between current_setting('acp_skills.v3')::bigint and current_setting('acp_skills.v4')::bigint
     ) as parts order by number`,
    [id, toOwnerHash(owner).toString("hex"), String(first), String(Math.min(first + windowChunks - 1, atMost))],
    (bytes) => {
      if (content === undefined) content = JSON.parse(bytes.toString()) as FoundContent;
      else addIntact(chunks, content, number++, bytes);
    },
  );
  if (content === undefined) throw blobNotFound(id);
  return { content, chunks };
}

async function readWindow(
  { database, objects }: BlobContext,
  content: FoundContent,
  first: number,
  last: number,
): Promise<Chunks> {
  const chunks = new Map<number, Buffer>();
  const end = Math.min(first + windowChunks - 1, last);
  let number = first;
  const add = (bytes: Buffer): void => addIntact(chunks, content, number++, bytes);
  if (content.object === null)
    await database.readBytes(
      `select bytes from acp_skills.blob_chunks where upload = current_setting('acp_skills.v1')::bigint
         and number between current_setting('acp_skills.v2')::bigint and current_setting('acp_skills.v3')::bigint
       order by number`,
      [String(content.upload), String(first), String(end)],
      add,
    );
  else if (objects === undefined)
    throw new SkillsError("INTERNAL", "The blob is in an object store, and ACP_SKILLS_CLUSTER_S3 names none here.");
  else
    for (let index = Math.floor((first * chunkBytes) / objectBytes); number <= end; index++) {
      const from = number * chunkBytes - index * objectBytes;
      const to = Math.min((end + 1) * chunkBytes, content.size) - index * objectBytes;
      const bytes = await objects.get(toObjectName(content.object, index), from, Math.min(to, objectBytes));
      if (bytes === undefined) break;
      for (let at = 0; at < bytes.length; at += chunkBytes) add(bytes.subarray(at, at + chunkBytes));
    }
  return chunks;
}

function addIntact(chunks: Map<number, Buffer>, { digests }: FoundContent, number: number, bytes: Buffer): void {
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest === digests.slice(number * digest.length, (number + 1) * digest.length)) chunks.set(number, bytes);
}
