import { closeSync, constants, fstatSync, openSync } from "node:fs";
import path from "node:path";
import { isObject, parseIfJson } from "../base/json/json-value.ts";
import { LimitedMap } from "../base/limited-map.ts";
import { readInto } from "../base/paths/at-real-path.ts";
import { directoryName } from "./skill.ts";

export {
  type ChangedFile,
  type CopiedFile,
  changesOf,
  maxTextBytes,
  maxTextBytesTogether,
  toCopy,
  toHex,
} from "./files/copied-files.ts";
export { diskSkillBytes, diskSkillFiles } from "./files/disk-skill-files.ts";
export { memorySkillSource } from "./files/memory-skill-files.ts";

/** A directory entry. Links are resolved: `kind` is the kind of their target. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "other" | "dangling";
  readonly link: boolean;
}

/** The first bytes of a file. */
export interface Head {
  readonly bytes: Uint8Array;
  /** True when `bytes` is the whole file. */
  readonly whole: boolean;
}

/**
 * The port through which skills are read. Synchronous on purpose: over 10,000 small files, asynchronous reads cost three times as much.
 * The catalog slices its work so that other work waits for a few milliseconds at most. Every method throws a `SkillsError` with code
 * UNREADABLE and a message for users if the disk refuses.
 */
export interface SkillFiles {
  /** The entries of a directory, in no particular order. */
  list(directory: string): readonly DirectoryEntry[];
  /** At most `limit` bytes from the start. Regular files only: never blocks on a FIFO or a device. */
  head(file: string, limit: number): Head;
  /** The real absolute path; undefined if nothing exists there. */
  resolve(target: string): string | undefined;
}

/** Reads the beginnings of files. */
export type HeadReader = Pick<SkillFiles, "head">;

/** Distinguishes contents of a file without reading it. */
export interface FileStamp {
  readonly size: number;
  /** Changes whenever the file is written. Undefined if that is uncertain, as right after a write. */
  readonly version: string | undefined;
}

/** Bytes of a file, with the stamp of the whole file when it was opened. */
export interface FileHead extends FileStamp {
  readonly bytes: Uint8Array;
}

/**
 * The port to the bytes of a skill's files. Paths are real paths. Regular files only: anything else, and a missing file, is undefined;
 * nothing blocks on a FIFO. Throws UNREADABLE if the disk refuses.
 */
export interface SkillBytes {
  stamp(file: string): FileStamp | undefined;
  /** At most `limit` bytes from the start. */
  head(file: string, limit: number): FileHead | undefined;
  /** The digest in lower-case hexadecimal. Reads a large file in chunks and stops between them when `signal` is aborted. */
  sha256(file: string, signal: AbortSignal): string | undefined | Promise<string | undefined>;
}

/** The source from which skills are read. */
export interface SkillSource {
  readonly files: SkillFiles;
  readonly bytes: SkillBytes;
}

const byExtension: Readonly<Record<string, string>> = {
  md: "text/markdown",
  txt: "text/plain",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  py: "text/x-python",
  sh: "application/x-sh",
  js: "text/javascript",
  mjs: "text/javascript",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  pdf: "application/pdf",
};

/** The media type of a skill's file, by its name. */
export function toMimeType(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(byExtension, extension) ? (byExtension[extension] ?? "") : "application/octet-stream";
}

/** Windows does not have this flag. */
const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const maxLockBytes = 16 * 1024 * 1024;

/** The URLs in each lock file, by the names of directories. */
const locks = new LimitedMap<string, { readonly stamp: string; readonly urls: ReadonlyMap<string, readonly string[]> }>(
  64,
);

/**
 * The URLs in locks from which the skill in a directory was installed; none if no lock contains it. Locks are files of projects: their
 * content may count against a skill, never for it. Never throws.
 */
export function installedFrom({ directory }: { readonly directory: string }, home: string): readonly string[] {
  const [parent, name] = [path.dirname(directory), path.basename(directory)];
  // `.agents/skills/NAME`, `.claude/skills/NAME` or `skills/NAME`.
  const above = path.dirname(parent);
  const { XDG_STATE_HOME: state = "" } = process.env;
  const files = new Set([
    ...[above, path.dirname(above)].map((base) => path.join(base, "skills-lock.json")),
    path.join(above, ".skill-lock.json"),
    ...(state === "" || !directory.startsWith(home) ? [] : [path.join(state, "skills", ".skill-lock.json")]),
  ]);
  return path.basename(parent) === "skills" ? [...files].flatMap((file) => urlsIn(file).get(name) ?? []) : [];
}

const nowhere: ReadonlyMap<string, readonly string[]> = new Map();

/** Reads a lock by one descriptor. Runs may write to the project, and a pipe or a device instead of a lock must not block. */
function urlsIn(file: string): ReadonlyMap<string, readonly string[]> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(descriptor);
    const stamp = [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino].join(":");
    const known = locks.get(file);
    if (known?.stamp === stamp) return known.urls;
    const bytes = Buffer.alloc(stats.isFile() && stats.size <= maxLockBytes ? stats.size : 0);
    const value = parseIfJson(bytes.toString("utf8", 0, readInto(descriptor, bytes)));
    const skills = isObject(value) && isObject(value["skills"]) ? Object.entries(value["skills"]) : [];
    const urls = new Map(skills.map(([key, entry]) => [directoryName(key), urlsOf(entry)]));
    locks.set(file, { stamp, urls });
    return urls;
  } catch {
    return nowhere;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function urlsOf(entry: unknown): readonly string[] {
  if (!isObject(entry)) return [];
  const { source, sourceType, sourceUrl, sourceBaseUrl } = entry;
  const text = typeof source === "string" ? source : "";
  const isShorthand = !text.includes(":") && text !== "" && sourceType !== "local" && sourceType !== "node_modules";
  const whole = isShorthand ? `https://${sourceType === "github" ? "github.com/" : ""}${text}` : text;
  return [sourceBaseUrl, sourceUrl, whole].flatMap((url) =>
    typeof url === "string" && URL.canParse(url) ? [url] : [],
  );
}
