import { isUtf8 } from "node:buffer";
import type { gunzip, inflateRaw } from "node:zlib";
import { SkillsError } from "../../base/errors.ts";
import { checkCollisions, checkPath, remotePathFault } from "./check-path.ts";
import { skillLimits } from "./skill-limits.ts";
import type { SkillFile } from "../reader.ts";
import { systemCode } from "../../base/failures/system-error.ts";

export interface ArchiveOptions {
  /** Removes the single top directory that contains everything. */
  readonly stripTop?: boolean;
  /** The treatment of links, which are never followed: refuse the archive, or list them. Default: refuse. */
  readonly links?: "refuse" | "list";
  /**
   * The treatment of files with unusable paths. Default: they make the archive unusable. "list" is for a whole repository: it also skips
   * the check for collisions, which is left to the code that takes files.
   */
  readonly unusable?: "refuse" | "list";
  /** Whether a file is wanted, by its path after `stripTop`. Other files are skipped, and count only towards `unpacked` and `entries`. */
  readonly keep?: (path: string, size: number) => boolean;
  readonly limits?: Partial<ArchiveLimits>;
}

interface ArchiveLimits {
  /** The maximum number of extracted files; `bytes`: their maximum total size. */
  readonly files: number;
  readonly bytes: number;
  /** The maximum size of the whole archive after unpacking, in bytes: a guard against zip bombs. */
  readonly unpacked: number;
  /** The maximum number of files, directories, links and headers. */
  readonly entries: number;
}

const defaultLimits: ArchiveLimits = {
  files: skillLimits.files,
  bytes: skillLimits.bytes,
  unpacked: skillLimits.bytes + 8 * 1024 * 1024,
  entries: 4 * skillLimits.files,
};

export interface ArchiveContent {
  /** The extracted files, in the order of the archive. */
  readonly files: readonly SkillFile[];
  /** The links of the archive. `target` is unchecked and can be any text. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** The files that were left out. `why` is the end of a sentence that starts with "The path". */
  readonly unusable: readonly { readonly path: string; readonly why: string }[];
  /** The commit that `git archive` claims to have packed. */
  readonly commit?: string;
}

/** Returns the error for an unusable archive. `fault` continues a sentence that starts with "The archive". */
export function badArchive(fault: string, cause?: unknown): SkillsError {
  return new SkillsError("SOURCE_INVALID", `The archive ${fault}.`, { cause });
}

/** Collects the entries of an archive of any form and checks them against the rules. Throws SOURCE_INVALID. */
export class ArchiveCollector {
  readonly limits: ArchiveLimits;
  readonly #options: ArchiveOptions;
  readonly #files: SkillFile[] = [];
  readonly #links: { path: string; target: string }[] = [];
  readonly #unusable: { path: string; why: string }[] = [];
  #bytes = 0;
  #entries = 0;
  #top: string | undefined;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.limits = { ...defaultLimits, ...options.limits };
  }

  countEntry(): void {
    this.#entries += 1;
    if (this.#entries > this.limits.entries) throw badArchive(`has more than ${this.limits.entries} entries`);
  }

  /** Returns the path of a wanted file; undefined if it is not wanted or not usable. Must be called before the file's bytes are read. */
  admitFile(name: string, size: number): string | undefined {
    const path = this.#pathFor(name);
    if (path === undefined) throw badArchive("has a file without a name");
    if (this.#options.keep?.(path, size) === false || !this.#isUsable(path)) return undefined;
    if (this.#files.length >= this.limits.files) throw badArchive(`has more than ${this.limits.files} files`);
    this.#bytes += size;
    if (this.#bytes > this.limits.bytes) throw badArchive(`has files of more than ${this.limits.bytes} bytes`);
    return path;
  }

  addFile(file: SkillFile): void {
    this.#files.push(file);
  }

  addDirectory(name: string): void {
    const path = this.#pathFor(name.replace(/\/$/, ""));
    if (path !== undefined && this.#options.keep === undefined) this.#isUsable(path);
  }

  addLink(name: string, target: string): void {
    const path = this.#pathFor(name);
    if (path === undefined || this.#options.keep?.(path, 0) === false || !this.#isUsable(path)) return;
    if (this.#options.links !== "list")
      throw badArchive(`has a link, ${JSON.stringify(path)}; links are not unpacked because they can lead anywhere`);
    this.#links.push({ path, target });
  }

  end(commit?: string): ArchiveContent {
    const content = { files: this.#files, links: this.#links, unusable: this.#unusable };
    if (this.#options.unusable !== "list") checkCollisions([...this.#files, ...this.#links], "archive");
    return commit === undefined ? content : { ...content, commit };
  }

  #isUsable(path: string): boolean {
    if (this.#options.unusable !== "list") return checkPath(path, "archive") === path;
    const why = remotePathFault(path);
    if (why !== undefined) this.#unusable.push({ path, why });
    return why === undefined;
  }

  /** Returns the unchecked path of an entry; undefined for the top directory itself. */
  #pathFor(name: string): string | undefined {
    // `tar czf skill.tar.gz .` writes such names.
    const plain = name === "." || name === "./" ? "" : name.replace(/^\.\//, "");
    if (plain === "") return undefined;
    if (this.#options.stripTop !== true) return plain;
    const end = plain.indexOf("/");
    const top = end === -1 ? plain : plain.slice(0, end);
    this.#top ??= top;
    if (top !== this.#top) throw badArchive("has more than one directory at its top");
    return end === -1 ? undefined : plain.slice(end + 1);
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Throws SOURCE_INVALID for a path that is not UTF-8. */
export function decodePath(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return utf8.decode(bytes);
  throw badArchive("has a path that is not valid UTF-8");
}

/** Unzips bytes without blocking. Rejects with SOURCE_INVALID for damaged bytes, and with `tooLarge` as the fault above the limit. */
export function inflate(
  unzip: typeof gunzip | typeof inflateRaw,
  packed: Uint8Array,
  maxOutputLength: number,
  tooLarge: string,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    unzip(packed, { maxOutputLength, chunkSize: 64 * 1024, info: true }, (error, found: unknown) => {
      if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") reject(badArchive(tooLarge));
      else if (error !== null) reject(badArchive("is damaged: it cannot be unzipped", error));
      else {
        const { buffer, engine } = found as { readonly buffer: Buffer; readonly engine: { bytesWritten: number } };
        // Without this check, content after the end would be dropped silently.
        if (engine.bytesWritten === packed.length) resolve(buffer);
        else reject(badArchive("has content after its end"));
      }
    });
  });
}
