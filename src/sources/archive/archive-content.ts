import { isUtf8 } from "node:buffer";
import type { gunzip, inflateRaw } from "node:zlib";
import { SkillsError } from "../../base/errors.ts";
import { checkCollisions, checkPath, remotePathFault } from "./check-path.ts";
import { skillLimits } from "./skill-limits.ts";
import type { SkillFile } from "../reader.ts";
import { systemCode } from "../../base/failures/system-error.ts";

export interface ArchiveOptions {
  /** Removes the one directory in which everything lies. */
  readonly stripTop?: boolean;
  /** Links are never followed; those that are not refused are listed. Default: refuse. */
  readonly links?: "refuse" | "list";
  /**
   * What happens to files with unusable paths. Default: they make the archive unusable. Of a whole repository they are listed instead; then
   * collisions are not checked either: whoever takes files checks those.
   */
  readonly unusable?: "refuse" | "list";
  /** Which files are wanted, by their paths after `stripTop`. Others are read over and count to no limit but `unpacked` and `entries`. */
  readonly keep?: (path: string, size: number) => boolean;
  readonly limits?: Partial<ArchiveLimits>;
}

interface ArchiveLimits {
  /** The number of extracted files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** The limit of everything that the archive grows to: against zip bombs. */
  readonly unpacked: number;
  /** Files, directories, links and headers. */
  readonly entries: number;
}

const defaultLimits: ArchiveLimits = {
  files: skillLimits.files,
  bytes: skillLimits.bytes,
  unpacked: skillLimits.bytes + 8 * 1024 * 1024,
  entries: 4 * skillLimits.files,
};

export interface ArchiveContent {
  /** As the archive orders them. */
  readonly files: readonly SkillFile[];
  /** `target` is as the archive has it: any text. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Paths of files that were left out, and why: the end of a sentence that starts with "The path". */
  readonly unusable: readonly { readonly path: string; readonly why: string }[];
  /** The commit that `git archive` claims to have packed. */
  readonly commit?: string;
}

/** What is not usable about an archive. `fault` continues a sentence that starts with "The archive". */
export function badArchive(fault: string, cause?: unknown): SkillsError {
  return new SkillsError("SOURCE_INVALID", `The archive ${fault}.`, { cause });
}

/** Collects the entries of an archive of any form, and holds them to the rules. Throws SOURCE_INVALID. */
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

  /** Whether a file of this size is wanted, and by which path. To be asked before its bytes are read. */
  admitFile(name: string, size: number): string | undefined {
    const path = this.#place(name);
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
    const path = this.#place(name.replace(/\/$/, ""));
    if (path !== undefined && this.#options.keep === undefined) this.#isUsable(path);
  }

  addLink(name: string, target: string): void {
    const path = this.#place(name);
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

  /** The path of an entry, not yet checked; undefined for the top directory itself. */
  #place(name: string): string | undefined {
    // As `tar czf skill.tar.gz .` writes it.
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

/** What these bytes grow to, without blocking. Throws SOURCE_INVALID where they are damaged, and with `tooLarge` above the limit. */
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
        // What follows the end is dropped without a word otherwise.
        if (engine.bytesWritten === packed.length) resolve(buffer);
        else reject(badArchive("has content after its end"));
      }
    });
  });
}
