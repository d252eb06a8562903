import { createHash } from "node:crypto";
import { SkillsError } from "../../base/errors.ts";
import { type BlobRange, blobNotFound, withinBlob } from "../../runtime/blobs.ts";
import type { Database } from "../database.ts";
import type { BlobHolder } from "./blob-holder.ts";
import { toOwnerHash } from "./blob-rows.ts";
import { chunkBytes } from "./cut-content.ts";
import { type ObjectStore, objectBytes, toObjectName } from "./object-store.ts";

/** Chunks that are read at once. The next ones are read while the reader has these. */
const windowChunks = 4;
const pieceBytes = 64 * 1024;

interface FoundContent {
  readonly size: number;
  readonly upload: number;
  /** Null for chunks in the database. */
  readonly object: string | null;
  /** Hexadecimal. */
  readonly digests: string;
}

interface ReadContext {
  readonly database: Database;
  readonly holder: BlobHolder;
  readonly objects: ObjectStore | undefined;
}

/**
 * Reads a range. Verifies each chunk that it touches before a byte of it is handed on; so a small range of a large blob costs two MiB at most, and damage
 * elsewhere in the blob is not seen. A range beyond the first chunks holds the bytes, so that it can be read to its end after they were removed.
 */
export async function* readContent(
  context: ReadContext,
  owner: string,
  id: string,
  range: BlobRange,
): AsyncGenerator<Uint8Array> {
  // Checks the range alone, which is clamped below.
  const { start: from } = withinBlob({ ...range, length: 0 }, Number.MAX_SAFE_INTEGER);
  const first = Math.floor(from / chunkBytes);
  let { content, chunks } = await openRange(context, owner, id, first);
  const { start, end } = withinBlob(range, content.size);
  if (start >= end) return;
  const last = Math.ceil(end / chunkBytes) - 1;
  let release: (() => Promise<void>) | undefined;
  if (last >= first + windowChunks || content.object !== null) {
    // Another put of equal bytes may take the place of these at any time.
    for (let attempt = 0; release === undefined; attempt++) {
      if (attempt > 5) throw new SkillsError("RUNTIME_BUSY", "The blob is being replaced again and again.");
      if (attempt > 0) ({ content, chunks } = await openRange(context, owner, id, first));
      release = await context.holder.hold({ upload: content.upload });
    }
  }
  try {
    let window = content.object === null ? Promise.resolve(chunks) : readWindow(context, content, first, last);
    for (let number = first; number <= last; number += windowChunks) {
      const found = await window;
      const next = number + windowChunks;
      if (next <= last) {
        window = readWindow(context, content, next, last);
        // A reader that stops early does not await it.
        window.catch(() => undefined);
      }
      for (let at = number; at < next && at <= last; at++) {
        const bytes = verified(content, at, found[at - number]);
        const stop = Math.min(end - at * chunkBytes, bytes.length);
        for (let piece = Math.max(0, start - at * chunkBytes); piece < stop; piece += pieceBytes)
          yield bytes.subarray(piece, Math.min(piece + pieceBytes, stop));
      }
    }
  } finally {
    await release?.();
  }
}

/** Finds the content of a blob, and in the same snapshot its first chunks from a number on. Throws BLOB_NOT_FOUND. */
async function openRange(
  { database }: ReadContext,
  owner: string,
  id: string,
  first: number,
): Promise<{ content: FoundContent; chunks: readonly Buffer[] }> {
  const [head, ...chunks] = await database.readBytes(
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
    [id, toOwnerHash(owner).toString("hex"), String(first), String(first + windowChunks - 1)],
  );
  if (head === undefined) throw blobNotFound(id);
  return { content: JSON.parse(head.toString()) as FoundContent, chunks };
}

/** The chunks of a window, in order; undefined for what is missing. */
async function readWindow(
  { database, objects }: ReadContext,
  content: FoundContent,
  first: number,
  last: number,
): Promise<readonly (Buffer | undefined)[]> {
  const end = Math.min(first + windowChunks - 1, last);
  if (content.object === null)
    return await database.readBytes(
      `select bytes from acp_skills.blob_chunks where upload = current_setting('acp_skills.v1')::bigint
         and number between current_setting('acp_skills.v2')::bigint and current_setting('acp_skills.v3')::bigint
       order by number`,
      [String(content.upload), String(first), String(end)],
    );
  if (objects === undefined)
    throw new SkillsError("INTERNAL", "The blob is in an object store, and ACP_SKILLS_CLUSTER_S3 names none here.");
  const chunks: (Buffer | undefined)[] = [];
  for (let number = first; number <= end;) {
    const place = Math.floor((number * chunkBytes) / objectBytes);
    const next = Math.min(end + 1, ((place + 1) * objectBytes) / chunkBytes);
    const [from, to] = [number, next].map((at) => Math.min(at * chunkBytes, content.size) - place * objectBytes);
    const bytes = await objects.get(toObjectName(content.object, place), from ?? 0, to ?? 0);
    for (; number < next; number++) {
      const at = number * chunkBytes - place * objectBytes - (from ?? 0);
      chunks.push(bytes?.subarray(at, at + chunkBytes));
    }
  }
  return chunks;
}

function verified({ digests }: FoundContent, number: number, bytes: Buffer | undefined): Buffer {
  const expected = digests.slice(number * 64, number * 64 + 64);
  if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === expected) return bytes;
  throw new SkillsError(
    "INTERNAL",
    `The blob's bytes are ${bytes === undefined ? "missing" : "damaged"}; it cannot be read.`,
  );
}
