import path from "node:path";
import { byCodePoint } from "../text/code-point-order.ts";
import { directoryLoop, unreadable, wholeFile } from "./disk-findings.ts";
import { readIgnoreText } from "./ignored.ts";
import type { IgnoreRule } from "./ignored.ts";
import { needsManifestReader, readSkillFile } from "./read-skill-file.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import { joinPath } from "../files/skill-files.ts";
import type { Finding } from "../rules/rules.ts";
import { chooseSkillFile, isNearSkillFileName, isSkillFileName } from "./skill-file-names.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import type { Skill } from "../skill.ts";
import { findStrays } from "./strays.ts";

/** What one directory contains, independent of its surroundings. Immutable. */
export interface DirectoryRecord {
  /** Absolute real path. */
  readonly path: string;
  /** The expected name of its skill. */
  readonly expectedName: string;
  /** Whether it has a SKILL.md, readable or not. */
  readonly isSkill: boolean;
  readonly skill: Skill | undefined;
  /** The directory, or the target of SKILL.md if that is a link: directories that share it contain the same skill. */
  readonly identity: string;
  readonly findings: readonly Finding[];
  /** Files that look like a skill but are not read. */
  readonly strays: readonly Finding[];
  /** Subdirectories, with the real path of those behind links; ordered by code point. */
  readonly children: readonly { readonly name: string; readonly target: string | undefined }[];
  /** Names of dangling links. */
  readonly dangling: readonly string[];
  /** The patterns of its ignore files. */
  readonly ignored: readonly IgnoreRule[];
  /** What the record depends on outside the directory, such as link targets, and the path to watch for it. */
  readonly elsewhere: readonly { readonly target: string; readonly watch: string }[];
}

export interface DirectoryReading {
  readonly files: SkillFiles;
  /** Called before anything in a directory is read, so that no later change is missed. */
  readonly onDirectory?: ((directory: string) => void) | undefined;
}

const maxIgnoreBytes = 64 * 1024;
/** Directories that are not searched for skills. */
export const skipped: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"]);
/** Other relevant files of a directory. */
const telling: ReadonlySet<string> = new Set(["skill.toml", ".gitignore", ".ignore"]);
const none: readonly never[] = Object.freeze([]);

/** A record under construction. */
interface Draft {
  readonly findings: Finding[];
  readonly children: DirectoryRecord["children"][number][];
  readonly dangling: string[];
  readonly elsewhere: DirectoryRecord["elsewhere"][number][];
  readonly tellers: Entry[];
  /** Files whose name resembles SKILL.md. */
  readonly near: string[];
}

/** Reads one directory without a pause, so that its parts are consistent; undefined if it no longer exists. Unreadable parts are findings. */
export function readDirectory(
  directory: string,
  expectedName: string,
  reading: DirectoryReading,
): DirectoryRecord | typeof needsManifestReader | undefined {
  const { files, onDirectory } = reading;
  onDirectory?.(directory);
  const draft: Draft = { findings: [], children: [], dangling: [], elsewhere: [], tellers: [], near: [] };
  const { findings, children, dangling, tellers } = draft;
  try {
    for (const entry of files.list(directory)) addEntry(draft, directory, entry, reading);
  } catch (error) {
    if (isGone(files, directory)) return undefined;
    findings.push(unreadable(directory, error));
  }
  if (children.length > 1) children.sort((a, b) => byCodePoint(a.name, b.name));

  const entry = chooseSkillFile(tellers);
  let skill: Skill | undefined;
  if (entry !== undefined) {
    const manifestEntry = tellers.length > 1 ? tellers.find(({ name }) => name === "skill.toml") : undefined;
    const parsed = readSkillFile(files, { directory, expectedName, entry, manifestEntry });
    if (parsed === needsManifestReader) return parsed;
    ({ skill } = parsed);
    const entrypoint = skill?.manifest?.runtime?.entrypoint;
    if (entrypoint !== undefined) {
      const target = path.join(directory, entrypoint);
      depend(draft, { target, watch: path.dirname(target) }, reading);
    }
    if (parsed.findings.length > 0) findings.push(...parsed.findings);
  }
  return {
    path: directory,
    expectedName,
    isSkill: entry !== undefined,
    skill,
    identity: entry?.link === true ? linkedIdentity(files, directory, entry) : directory,
    ignored: tellers.length === 0 ? none : orNone(readIgnoreFiles(files, directory, draft)),
    findings: orNone(findings),
    children: orNone(children),
    strays: orNone(findStrays(files, directory, draft, entry)),
    dangling: orNone(dangling),
    elsewhere: orNone(draft.elsewhere),
  };
}

function addEntry(draft: Draft, directory: string, entry: Entry, reading: DirectoryReading): void {
  const { name, kind, link } = entry;
  if (kind === "dangling") draft.dangling.push(name);
  if (isTelling(name)) draft.tellers.push(entry);
  else if (kind === "file" || kind === "other" || skipped.has(name)) {
    if (kind === "file" && isNearSkillFileName(name)) draft.near.push(name);
    return;
  }
  if (link) addLink(draft, directory, entry, reading);
  else if (kind === "directory" && !isTelling(name)) draft.children.push({ name, target: undefined });
}

function isTelling(name: string): boolean {
  return isSkillFileName(name) || telling.has(name);
}

/** A link's target may disappear and come back, and every link on the way may change. */
function addLink(draft: Draft, directory: string, { name, kind }: Entry, reading: DirectoryReading): void {
  const link = joinPath(directory, name);
  depend(draft, { target: link, watch: link }, reading);
  const target = resolveForUs(reading.files, link);
  if (target === undefined) return;
  if (kind === "file") depend(draft, { target, watch: path.dirname(target) }, reading);
  else if (kind !== "directory" || isTelling(name)) return;
  else if (isWithin(directory, target)) draft.findings.push(directoryLoop(link, target));
  else draft.children.push({ name, target });
}

function depend(draft: Draft, elsewhere: DirectoryRecord["elsewhere"][number], reading: DirectoryReading): void {
  draft.elsewhere.push(elsewhere);
  reading.onDirectory?.(elsewhere.watch);
}

/** `.ignore` comes second, so that it overrides `.gitignore`. */
function readIgnoreFiles(files: SkillFiles, directory: string, { tellers, findings }: Draft): IgnoreRule[] {
  const patterns: IgnoreRule[] = [];
  for (const wanted of [".gitignore", ".ignore"]) {
    if (!tellers.some(({ name, kind }) => name === wanted && kind === "file")) continue;
    const file = joinPath(directory, wanted);
    try {
      const { bytes, whole } = files.head(file, maxIgnoreBytes);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
      const reading = readIgnoreText(file, text);
      patterns.push(...reading.patterns);
      findings.push(...reading.findings);
      if (!whole) findings.push(longIgnoreFile(file));
    } catch (error) {
      findings.push(unreadable(file, error));
    }
  }
  return patterns;
}

function longIgnoreFile(file: string): Finding {
  const message = `only the first ${maxIgnoreBytes / 1024} KiB of the file are used`;
  return wholeFile("ignore-pattern-excessive", file, message, "Shorten it.");
}

function isGone(files: SkillFiles, directory: string): boolean {
  try {
    // A name that is not valid Unicode cannot be resolved, but exists.
    return files.resolve(directory) === undefined && !directory.includes("\ufffd");
  } catch {
    // The parent may be readable without search permission.
    return false;
  }
}

/** A target behind a directory without permission counts as missing, as in the kind of its entry. */
function resolveForUs(files: SkillFiles, link: string): string | undefined {
  try {
    return files.resolve(link);
  } catch {
    return undefined;
  }
}

/** A link to another skill's SKILL.md is the same skill. */
function linkedIdentity(files: SkillFiles, directory: string, entry: Entry): string {
  const target = resolveForUs(files, joinPath(directory, entry.name));
  if (target === undefined) return directory;
  return /^skill\.md$/i.test(path.basename(target)) ? path.dirname(target) : target;
}

/** One shared empty list saves memory: most lists are empty. */
function orNone<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? none : items;
}
