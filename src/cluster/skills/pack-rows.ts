import { createHash } from "node:crypto";
import { SkillsError } from "../../base/errors.ts";
import { openHandleAtRealPath } from "../../base/paths/at-real-path.ts";
import { inChunks } from "../../base/text/byte-chunks.ts";
import { beginsAsScript } from "../../base/text/content.ts";
import type { HashedFile } from "../../skills/hash.ts";
import { signatureFile } from "../../skills/skill.ts";
import type { SkillFile } from "../../sources/reader.ts";
import type { Database, Queries } from "../database.ts";
import { badPack, digestBytes, formatList, maxListLength, parseList } from "./pack-list.ts";

const partBytes = 1024 * 1024;
/** The precision of the time of the last use: otherwise each use would change a row. */
const touchedAfter = "1 day";

/** A file of a pack, and its real path. */
export interface PackedFile extends HashedFile {
  readonly real: string;
}

/** Whether the files of a digest are stored. Records the time of this use. */
export async function touchPack(queries: Queries, digest: string): Promise<boolean> {
  const [row] = await queries.query<{ found: boolean }>(
    `with touched as (
       update acp_skills.skill_packs set used_at = now()
       where digest = $1 and used_at < now() - $2::interval
     )
     select exists (select from acp_skills.skill_packs where digest = $1) as found`,
    [digestBytes(digest), touchedAfter],
  );
  return row?.found === true;
}

export interface PackToStore {
  readonly digest: string;
  readonly files: readonly HashedFile[];
  readonly signature: Uint8Array | undefined;
  /** The bytes of `files`, one after the other, in pieces of any size. */
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Stores a pack completely or not at all; does nothing if it is stored. Rejects with the errors of `bytes`. */
export async function insertPack(database: Database, pack: PackToStore, signal: AbortSignal): Promise<void> {
  const { digest, files, signature, bytes } = pack;
  const list = formatList(files, digest);
  const size = files.reduce((sum, file) => sum + file.size_bytes, 0);
  await database.transaction(async (queries) => {
    // Waits for a transaction that is storing the same pack.
    const inserted = await queries.query(
      `insert into acp_skills.skill_packs (digest, files, size, signature) values ($1, $2, $3, $4)
       on conflict (digest) do nothing returning 1`,
      [digestBytes(digest), list, size, signature === undefined ? null : Buffer.from(signature)],
    );
    if (inserted.length === 0) return;
    let part = 0;
    for await (const whole of inChunks(bytes, partBytes)) {
      signal.throwIfAborted();
      await queries.query("insert into acp_skills.skill_parts values ($1, $2, $3)", [
        digestBytes(digest),
        part++,
        whole,
      ]);
    }
  });
}

/** Yields the bytes of files in order, without blocking. Throws SKILL_NOT_READY if they do not match the list. */
export async function* readFiles(files: readonly PackedFile[]): AsyncGenerator<Uint8Array> {
  for (const { path, real, size_bytes, sha256 } of files) {
    const handle = await openHandleAtRealPath(real);
    const hash = createHash("sha256");
    try {
      if (!(await handle.stat()).isFile()) throw changed(path);
      // One byte more than expected shows that the file has grown.
      const options = { end: size_bytes, highWaterMark: partBytes, autoClose: false };
      for await (const bytes of handle.createReadStream(options) as AsyncIterable<Buffer>) {
        hash.update(bytes);
        yield bytes;
      }
    } finally {
      await handle.close();
    }
    if (hash.digest("hex") !== sha256) throw changed(path);
  }
}

function changed(path: string): SkillsError {
  return new SkillsError("SKILL_NOT_READY", `The skill just changed on disk: ${JSON.stringify(path)}.`, {
    facts: { hint: "List the skills again." },
  });
}

/**
 * Reads the files of a digest and the signature stored with them, without verifying their bytes. Undefined if they are not stored. Throws
 * SOURCE_INVALID for the list of another digest, and for too few or too many bytes. Does not read a list or chunk that is too long.
 */
export async function readPack(queries: Queries, digest: string): Promise<readonly SkillFile[] | undefined> {
  const [row] = await queries.query<{ files: string | null; signature: Uint8Array | null }>(
    `select case when octet_length(files) <= $2 then files end as files,
            case when octet_length(signature) <= $3 then signature end as signature
     from acp_skills.skill_packs where digest = $1`,
    [digestBytes(digest), maxListLength, partBytes],
  );
  if (row === undefined) return undefined;
  const { files, signature } = row;
  if (files === null) throw badPack(digest, "its list of files is too long");
  const list = parseList(files, digest);
  const size = list.reduce((sum, file) => sum + file.size_bytes, 0);
  const parts: Uint8Array[] = [];
  for (let part = 0; part * partBytes < size; part++) {
    const [found] = await queries.query<{ bytes: Uint8Array }>(
      "select bytes from acp_skills.skill_parts where digest = $1 and part = $2 and octet_length(bytes) <= $3",
      [digestBytes(digest), part, partBytes],
    );
    parts.push(found?.bytes ?? new Uint8Array(0));
  }
  const bytes = Buffer.concat(parts);
  if (bytes.length !== size) throw badPack(digest, `there are ${bytes.length} bytes of files, not ${size}`);
  let at = 0;
  const cut = list.map((file) => toSkillFile(file.path, bytes.subarray(at, (at += file.size_bytes))));
  return signature === null ? cut : [...cut, toSkillFile(signatureFile, signature)];
}

function toSkillFile(path: string, bytes: Uint8Array): SkillFile {
  return { path, bytes, executable: beginsAsScript(bytes) };
}

/** Removes some packs that were long unused and belong to no published version. Returns how many were removed. */
export async function expirePacks(database: Database, unusedFor = "30 days", maxPacks = 50): Promise<number> {
  const removed = await database.query(
    `delete from acp_skills.skill_packs where digest in (
       select digest from acp_skills.skill_packs pack
       where used_at < now() - $1::interval and not exists (
         select from acp_skills.catalog where catalog.digest = pack.digest and withdrawn_at is null
       )
       limit $2 for update skip locked
     ) and used_at < now() - $1::interval returning 1`,
    [unusedFor, maxPacks],
  );
  return removed.length;
}
