import path from "node:path";
import { byCodePoint } from "./code-point-order.ts";
import { directoryLoop, unreadable } from "./disk-findings.ts";
import { readSkillFile } from "./read-skill-file.ts";
import { isWithin, joinPath } from "./real-paths.ts";
import type { Finding } from "./rules.ts";
import type { Entry, SkillFiles } from "./skill-files.ts";
import type { Skill } from "./skill.ts";
import type { Steps } from "./slices.ts";

/** What one directory holds, whatever lies around it. Immutable. */
export interface DirectoryRecord {
  /** Absolute real path. */
  readonly path: string;
  /** The name that its skill should have. */
  readonly expectedName: string;
  /** Whether there is a SKILL.md, readable or not. */
  readonly isSkill: boolean;
  readonly skill: Skill | undefined;
  /** Real path of SKILL.md: directories that share it hold the same skill. */
  readonly identity: string;
  readonly findings: readonly Finding[];
  /** Directories below it, by name, and by real path where a link leads to them; ordered by code point. */
  readonly children: readonly { readonly name: string; readonly target: string | undefined }[];
  /** Names of links that lead nowhere. */
  readonly dangling: readonly string[];
  /** What its ignore files say; mostly empty. */
  readonly ignoreText: string;
  /** On what the record depends outside of its directory, because links lead there, and which directory to watch for that. */
  readonly elsewhere: readonly { readonly target: string; readonly watch: string }[];
}

export interface DirectoryReading {
  readonly files: SkillFiles;
  /** Called before anything in a directory is read, so that no later change goes unnoticed. */
  readonly onDirectory: (directory: string) => void;
  /** What the directory held before. */
  readonly previous: DirectoryRecord | undefined;
}

const maxIgnoreBytes = 64 * 1024;
const skipped: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"]);
/** Files that say something about the directory; SKILL.md is preferred to skill.md. */
const telling: ReadonlySet<string> = new Set(["SKILL.md", "skill.md", "skill.toml", ".gitignore", ".ignore"]);
const none: readonly never[] = Object.freeze([]);

/** Reads one directory; undefined where there is none any more. What cannot be read is a finding. */
export function* readDirectory(
  directory: string,
  expectedName: string,
  { files, onDirectory, previous }: DirectoryReading,
): Steps<DirectoryRecord | undefined> {
  onDirectory(directory);
  const findings: Finding[] = [];
  const children: DirectoryRecord["children"][number][] = [];
  const dangling: string[] = [];
  const elsewhere: DirectoryRecord["elsewhere"][number][] = [];
  const tellers = new Map<string, Entry>();
  let ignoreText = "";

  function depend(target: string, watch: string): void {
    elsewhere.push({ target, watch });
    onDirectory(watch);
  }
  function addEntry(entry: Entry): void {
    const { name, kind, link } = entry;
    if (telling.has(name)) {
      tellers.set(name, entry);
      const target = link && kind === "file" ? files.resolve(joinPath(directory, name)) : undefined;
      if (target !== undefined) depend(target, path.dirname(target));
    } else if (kind === "directory" && !skipped.has(name)) {
      if (link) addLink(name);
      else children.push({ name, target: undefined });
    }
    if (kind === "dangling") dangling.push(name);
  }
  function addLink(name: string): void {
    const link = joinPath(directory, name);
    const target = files.resolve(link);
    if (target === undefined) return;
    if (isWithin(directory, target)) findings.push(directoryLoop(link, target));
    else {
      children.push({ name, target });
      depend(target, target);
    }
  }
  function addIgnoreRules(name: string): void {
    if (tellers.get(name)?.kind !== "file") return;
    const file = joinPath(directory, name);
    try {
      const { bytes } = files.head(file, maxIgnoreBytes);
      ignoreText += `${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")}\n`;
    } catch (error) {
      findings.push(unreadable(file, error));
    }
  }

  try {
    for (const entry of files.list(directory)) addEntry(entry);
  } catch (error) {
    // A name that is not valid Unicode cannot be asked for, but it is there.
    if (files.resolve(directory) === undefined && !directory.includes("\ufffd")) return undefined;
    findings.push(unreadable(directory, error));
  }
  if (children.length > 1) children.sort((a, b) => byCodePoint(a.name, b.name));
  // What a link led to may come back where it was.
  if (dangling.length > 0) for (const { target, watch } of previous?.elsewhere ?? none) depend(target, watch);
  if (tellers.size > 0) for (const name of [".gitignore", ".ignore"]) addIgnoreRules(name);

  const entry = chooseSkillFile(tellers);
  let skill: Skill | undefined;
  let identity = directory;
  if (entry !== undefined) {
    const file = joinPath(directory, entry.name);
    identity = entry.link ? (files.resolve(file) ?? file) : file;
    const manifestEntry = tellers.get("skill.toml");
    const parsed = yield* readSkillFile(files, { directory, expectedName, entry, manifestEntry });
    skill = parsed.skill;
    findings.push(...parsed.findings);
  }
  return {
    path: directory,
    expectedName,
    isSkill: entry !== undefined,
    skill,
    identity,
    findings: orNone(findings),
    children: orNone(children),
    dangling: orNone(dangling),
    ignoreText,
    elsewhere: orNone(elsewhere),
  };
}

function chooseSkillFile(tellers: ReadonlyMap<string, Entry>): Entry | undefined {
  const [upper, lower] = [tellers.get("SKILL.md"), tellers.get("skill.md")];
  return upper?.kind !== "file" && lower?.kind === "file" ? lower : (upper ?? lower);
}

/** One shared empty list: most directories have nothing to tell. */
function orNone<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? none : items;
}
