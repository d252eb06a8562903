import { createHash } from "node:crypto";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import type { DirectoryRecord } from "../read-directory.ts";
import type { SkillFiles } from "../../files.ts";
import type { Steps } from "../../../base/promises.ts";
import { isSkillFileName } from "../../skill.ts";

const maxFileBytes = 1024 * 1024;
const maxFiles = 200;
const maxDirectories = 64;

/** Detects skills with the same slug and the same bytes. Larger ones than the limits above never count as copies. */
export class CopyFinder {
  readonly #files: SkillFiles;
  readonly #recall: (directory: string) => DirectoryRecord | undefined;
  /** A directory is read once for each new record of it. */
  readonly #texts = new WeakMap<DirectoryRecord, string | undefined>();
  readonly #contents = new WeakMap<DirectoryRecord, string | undefined>();

  /** `recall` returns what is known of a directory inside a skill. */
  constructor(files: SkillFiles, recall: (directory: string) => DirectoryRecord | undefined) {
    this.#files = files;
    this.#recall = recall;
  }

  /** Compares the skills of each group; returns a digest of the content of those whose own files equal another one's. */
  *compare(groups: Iterable<readonly DirectoryRecord[]>): Steps<Map<DirectoryRecord, string | undefined>> {
    const contents = new Map<DirectoryRecord, string | undefined>();
    for (const rivals of groups) {
      yield undefined;
      const byText = new Map<string | undefined, DirectoryRecord[]>();
      for (const record of rivals) {
        const text = this.#textOf(record);
        byText.set(text, [...(byText.get(text) ?? []), record]);
      }
      byText.delete(undefined);
      for (const equals of byText.values()) {
        if (equals.length === 1) continue;
        for (const record of equals) contents.set(record, yield* this.#contentOf(record));
      }
    }
    return contents;
  }

  /** Of the skill's own two files: few skills with the same name are equal in those. */
  #textOf(record: DirectoryRecord): string | undefined {
    return this.#digest(this.#texts, record, (name) => isSkillFileName(name) || name === "skill.toml");
  }

  /** Of everything in a skill's directory except nested skills. */
  *#contentOf(record: DirectoryRecord): Steps<string | undefined> {
    const parts: string[] = [];
    const waiting = [record];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield undefined;
      const own = this.#digest(this.#contents, next, () => true);
      if (own === undefined || parts.length === maxDirectories) return undefined;
      parts.push(`${JSON.stringify(next.path.slice(record.path.length))} ${own}`);
      for (const { name, target } of next.children) {
        const below = this.#recall(target ?? joinPath(next.path, name));
        if (target !== undefined || below === undefined) return undefined;
        if (!below.isSkill) waiting.push(below);
      }
    }
    return parts.join("\n");
  }

  #digest(
    known: WeakMap<DirectoryRecord, string | undefined>,
    record: DirectoryRecord,
    isWanted: (name: string) => boolean,
  ): string | undefined {
    if (!known.has(record)) known.set(record, this.#hashFiles(record.path, isWanted));
    return known.get(record);
  }

  /** Undefined if a file is unreadable or too large: it equals nothing then. */
  #hashFiles(directory: string, isWanted: (name: string) => boolean): string | undefined {
    try {
      const hash = createHash("sha256");
      const entries = this.#files.list(directory);
      // Packages count, but are not read here.
      if (entries.some(({ name }) => name === "node_modules")) return undefined;
      const names = entries.flatMap(({ name, kind }) => (kind === "file" && isWanted(name) ? [name] : []));
      if (names.length > maxFiles) return undefined;
      for (const name of names.sort()) {
        const { bytes, whole } = this.#files.head(joinPath(directory, name), maxFileBytes);
        if (!whole) return undefined;
        hash.update(`${JSON.stringify(name)} ${bytes.length}\n`).update(bytes);
      }
      return hash.digest("hex");
    } catch {
      return undefined;
    }
  }
}
