import path from "node:path";
import { byCodePoint } from "../text/code-point-order.ts";
import { directoryLoop, unreadable, wholeFile } from "../scan/disk-findings.ts";
import { readIgnoreText } from "../ignore/ignored.ts";
import type { IgnoreRule } from "../ignore/ignored.ts";
import { needsManifestReader, readSkillFile } from "./read-skill-file.ts";
import { isWithin } from "../../base/is-within.ts";
import { joinPath } from "./skill-files.ts";
import type { Finding } from "../rules/rules.ts";
import { chooseSkillFile, isNearSkillFileName, isSkillFileName } from "./skill-file-names.ts";
import type { Entry, SkillFiles } from "./skill-files.ts";
import type { Skill } from "../skill.ts";
import { findStrays } from "../scan/strays.ts";

/** What one directory holds, whatever lies around it. Immutable. */
export interface DirectoryRecord {
  /** Absolute real path. */
  readonly path: string;
  /** The name that its skill should have. */
  readonly expectedName: string;
  /** Whether there is a SKILL.md, readable or not. */
  readonly isSkill: boolean;
  readonly skill: Skill | undefined;
  /** The directory, or what SKILL.md leads to when it is a link: directories that share it hold the same skill. */
  readonly identity: string;
  readonly findings: readonly Finding[];
  /** What lies in the directory and is left out, whatever its skill is. */
  readonly strays: readonly Finding[];
  /** Directories below it, by name, and by real path where a link leads to them; ordered by code point. */
  readonly children: readonly { readonly name: string; readonly target: string | undefined }[];
  /** Names of links that lead nowhere. */
  readonly dangling: readonly string[];
  /** What its ignore files say; mostly nothing. */
  readonly ignored: readonly IgnoreRule[];
  /** On what the record depends beside its directory: links, which may come to lead elsewhere; and what to watch for that. */
  readonly elsewhere: readonly { readonly target: string; readonly watch: string }[];
}

export interface DirectoryReading {
  readonly files: SkillFiles;
  /** Called before anything in a directory is read, so that no later change goes unnoticed. */
  readonly onDirectory?: ((directory: string) => void) | undefined;
}

const maxIgnoreBytes = 64 * 1024;
/** Directories in which no skills are looked for. */
export const skipped: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"]);
/** Files that say something about the directory, beside that of the skill. */
const telling: ReadonlySet<string> = new Set(["skill.toml", ".gitignore", ".ignore"]);
const none: readonly never[] = Object.freeze([]);

/** A record in the making. */
interface Draft {
  readonly findings: Finding[];
  readonly children: DirectoryRecord["children"][number][];
  readonly dangling: string[];
  readonly elsewhere: DirectoryRecord["elsewhere"][number][];
  readonly tellers: Entry[];
  /** Files whose name is nearly that of a skill's. */
  readonly near: string[];
}

/**
 * Reads one directory, without a pause, so that no change falls between its parts; undefined where there is none any
 * more. What cannot be read is a finding.
 */
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

/** What a link led to may go and come back, and each link on the way may be re-pointed. */
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

/** `.ignore` comes second, so that it decides where the two differ. */
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
    // A name that is not valid Unicode cannot be asked for, but it is there.
    return files.resolve(directory) === undefined && !directory.includes("\ufffd");
  } catch {
    // The directory above may be listed, but not entered.
    return false;
  }
}

/** What is hidden behind a directory that may not be entered leads nowhere for us, as the kind of its entry says. */
function resolveForUs(files: SkillFiles, link: string): string | undefined {
  try {
    return files.resolve(link);
  } catch {
    return undefined;
  }
}

/** A link to another skill's SKILL.md is that very skill. */
function linkedIdentity(files: SkillFiles, directory: string, entry: Entry): string {
  const target = resolveForUs(files, joinPath(directory, entry.name));
  if (target === undefined) return directory;
  return /^skill\.md$/i.test(path.basename(target)) ? path.dirname(target) : target;
}

/** One shared empty list: most directories have nothing to tell. */
function orNone<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? none : items;
}
