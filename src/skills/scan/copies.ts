import { createHash } from "node:crypto";
import type { FoundSkill } from "./found.ts";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { joinPath } from "../files/real-paths.ts";
import { isSkillFileName } from "../files/skill-file-names.ts";
import type { SkillFiles } from "../files/skill-files.ts";
import type { Steps } from "../../base/slices.ts";

/** Tells which skills with one slug have the same bytes; what is larger than this is never taken for a copy. */
export interface CopyFinder {
  /** The skills, and with each that has another's slug below the same root what its directory contains. */
  compare(skills: readonly FoundSkill[]): Steps<FoundSkill[]>;
}

interface CopyFinderOptions {
  readonly files: SkillFiles;
  /** What is known of a directory inside a skill. */
  readonly recall: (directory: string) => DirectoryRecord | undefined;
}

const maxFileBytes = 1024 * 1024;
const maxFiles = 200;
const maxDirectories = 64;

/** Reads a directory once, and again when there is a new record of it. */
export function openCopyFinder({ files, recall }: CopyFinderOptions): CopyFinder {
  const texts = new WeakMap<DirectoryRecord, string | undefined>();
  const contents = new WeakMap<DirectoryRecord, string | undefined>();

  /** Of the skill's own two files: few that have the same name are equal in those. */
  function textOf(record: DirectoryRecord): string | undefined {
    return remembered(texts, record, (name) => isSkillFileName(name) || name === "skill.toml");
  }
  function remembered(
    known: WeakMap<DirectoryRecord, string | undefined>,
    record: DirectoryRecord,
    isWanted: (name: string) => boolean,
  ): string | undefined {
    if (!known.has(record)) known.set(record, hashFiles(record.path, isWanted));
    return known.get(record);
  }
  function hashFiles(directory: string, isWanted: (name: string) => boolean): string | undefined {
    try {
      const hash = createHash("sha256");
      const names = files
        .list(directory)
        .flatMap(({ name, kind }) => (kind === "file" && isWanted(name) ? [name] : []));
      if (names.length > maxFiles) return undefined;
      for (const name of names.sort()) {
        const { bytes, whole } = files.head(joinPath(directory, name), maxFileBytes);
        if (!whole) return undefined;
        hash.update(`${JSON.stringify(name)} ${bytes.length}\n`).update(bytes);
      }
      return hash.digest("hex");
    } catch {
      // What cannot be read equals nothing.
      return undefined;
    }
  }

  /** Everything in a skill's directory, but for skills within it. */
  function* contentOf(record: DirectoryRecord): Steps<string | undefined> {
    const parts: string[] = [];
    const waiting = [record];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield undefined;
      const own = remembered(contents, next, () => true);
      if (own === undefined || parts.length === maxDirectories) return undefined;
      parts.push(`${JSON.stringify(next.path.slice(record.path.length))} ${own}`);
      for (const { name, target } of next.children) {
        const below = recall(target ?? joinPath(next.path, name));
        if (target !== undefined || below === undefined) return undefined;
        if (!below.isSkill) waiting.push(below);
      }
    }
    return parts.join("\n");
  }

  return {
    *compare(skills) {
      const contentsOf = new Map<FoundSkill, string | undefined>();
      const [root] = skills[0]?.roots ?? [];
      const slugInRoot = ({ roots, record: { skill } }: FoundSkill): string | undefined =>
        roots[0] === root ? skill?.slug : skill && `${skill.slug} ${roots[0]?.path ?? ""}`;
      for (const rivals of groupsOf(skills, slugInRoot)) {
        yield undefined;
        for (const equals of groupsOf(rivals, ({ record }) => textOf(record))) {
          for (const found of equals) contentsOf.set(found, yield* contentOf(found.record));
        }
      }
      if (contentsOf.size === 0) return [...skills];
      return skills.map((found) => {
        const content = contentsOf.get(found);
        return content === undefined ? found : { ...found, content };
      });
    },
  };
}

/** Those that share a key with another; what has none is left out. */
function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Item[][] {
  const firsts = new Map<string, Item>();
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const first = firsts.get(key);
    const group = groups.get(key);
    if (first === undefined) firsts.set(key, item);
    else if (group === undefined) groups.set(key, [first, item]);
    else group.push(item);
  }
  return [...groups.values()];
}
