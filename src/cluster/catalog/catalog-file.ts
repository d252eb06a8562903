import { createHash } from "node:crypto";
import { appendFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { parseIfJson } from "../../base/json/json-value.ts";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import { temporaryOf } from "../../base/paths/replace-file.ts";
import { type Steps, runInSlices } from "../../base/promises.ts";
import { type CatalogEntry, isCatalogEntry } from "./read-catalog.ts";

const format = 1;
/** More changes than entries, after which the file is written anew. */
const maxChanges = 10_000;

/** What a member had read of the catalog when it wrote its file. */
export interface SavedCatalog {
  /** That of the database. */
  readonly id: string;
  /** Up to it, every change is in the entries. */
  readonly revision: number;
  readonly entries: readonly CatalogEntry[];
  /** When it was the same as in the database, in milliseconds since 1970. */
  readonly readAt: number;
}

/**
 * The changes that this machine has read, one a line, for starts without the database. Members that share the file write the same lines.
 */
export class CatalogFile {
  readonly #file: string;

  constructor(dataDirectory: string, label: string) {
    const name = createHash("sha256").update(label).digest("base64url").slice(0, 22);
    this.#file = path.join(dataDirectory, "cluster", "catalogs", `${name}.jsonl`);
  }

  /** Undefined where there is none that can be used. Does not block. */
  async read(): Promise<SavedCatalog | undefined> {
    const bytes = await readFile(this.#file).catch(() => undefined);
    const readAt = attempt(() => statSync(this.#file).mtimeMs, 0);
    const found = bytes && (await runInSlices(parseLines(bytes)));
    if (found === undefined) return undefined;
    if (found.lines > found.saved.entries.length + maxChanges || found.isDamaged) this.replace(found.saved);
    return { ...found.saved, readAt };
  }

  append(entries: readonly CatalogEntry[]): void {
    appendFileSync(this.#file, entries.map(toLine).join(""));
  }

  replace({ id, entries }: Pick<SavedCatalog, "id" | "entries">): void {
    makeOwnDirectories(path.dirname(path.dirname(this.#file)), 0o700);
    makeOwnDirectories(path.dirname(this.#file), 0o700);
    const next = path.join(path.dirname(this.#file), temporaryOf(this.#file));
    const text = `${JSON.stringify({ format, id })}\n${entries.map(toLine).join("")}`;
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, this.#file);
  }

  /** Remembers that its entries are those of the database now. */
  touch(now: number): void {
    // Without the file, the next start reads everything.
    attempt(() => utimesSync(this.#file, now / 1_000, now / 1_000), undefined);
  }
}

function toLine({ revision, slug, version, digest, publishedAt }: CatalogEntry): string {
  return `${JSON.stringify([revision, slug, version, digest ?? null, publishedAt])}\n`;
}

function* parseLines(bytes: Buffer): Steps<ParsedFile | undefined> {
  const entries = new Map<string, CatalogEntry>();
  let [start, lines, revision, isDamaged] = [bytes.indexOf(10) + 1, 0, 0, false];
  const head = parseIfJson(bytes.toString("utf8", 0, start)) as { format?: unknown; id?: unknown } | undefined;
  if (head?.format !== format || typeof head.id !== "string") return undefined;
  // What follows a damaged line is read from the database again, because a change may be missing.
  for (let end; start < bytes.length && !isDamaged; start = end + 1) {
    end = bytes.indexOf(10, start);
    const entry = end < 0 ? undefined : fromLine(bytes.toString("utf8", start, end));
    lines++;
    if (entry === undefined) isDamaged = true;
    // If not, another member wrote it, too.
    else if (entry.revision > revision) {
      revision = entry.revision;
      const key = `${entry.slug} ${entry.version}`;
      entries.delete(key);
      entries.set(key, entry);
    }
    yield;
  }
  return { saved: { id: head.id, revision, entries: [...entries.values()] }, lines, isDamaged };
}

interface ParsedFile {
  readonly saved: Omit<SavedCatalog, "readAt">;
  readonly lines: number;
  readonly isDamaged: boolean;
}

function fromLine(line: string): CatalogEntry | undefined {
  const row = parseIfJson(line);
  if (!Array.isArray(row)) return undefined;
  const [revision, slug, version, digest, publishedAt] = row as unknown[];
  if (typeof slug !== "string" || typeof version !== "string") return undefined;
  if (digest !== null && typeof digest !== "string") return undefined;
  const entry = {
    revision: Number(revision),
    slug,
    version,
    digest: digest ?? undefined,
    publishedAt: Number(publishedAt),
  };
  return isCatalogEntry(entry) ? entry : undefined;
}
