import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { isWithin } from "../../base/paths/location.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { DirectoryEntry, SkillFiles } from "../files.ts";
import { type ManifestReading, type ParsedSkill, parseSkill } from "../manifest/parse-skill.ts";
import { maxFrontmatterBytes } from "../manifest/frontmatter.ts";
import type { Finding } from "../rules.ts";
import { type Skill, fileNameFault, isSkillFileName, isVersion, signatureFile } from "../skill.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import {
  directoryLoop,
  failedAt,
  manifestAlone,
  misnamedFile,
  notAFile,
  unreadableFinding,
  unusedFile,
} from "./scan/disk-findings.ts";
import { type IgnoreRule, readIgnoreFile } from "./scan/ignore-files.ts";

/** The content of one directory, independent of the directories around it. Immutable. */
export interface DirectoryRecord {
  /** Absolute real path. */
  readonly path: string;
  /** The name that the directory's skill must have. */
  readonly expectedName: string;
  /** Whether the directory has a SKILL.md, readable or not. */
  readonly isSkill: boolean;
  readonly skill: Skill | undefined;
  /** The directory, or the target of SKILL.md if that is a link. Directories with the same identity contain the same skill. */
  readonly identity: string;
  readonly findings: readonly Finding[];
  /** Files that look like a skill but are not read. */
  readonly unread: readonly Finding[];
  /** Subdirectories, with the real path of those behind links; ordered by code point. */
  readonly children: readonly { readonly name: string; readonly target: string | undefined }[];
  /** Names of dangling links that may have been skills. */
  readonly dangling: readonly string[];
  /** The patterns of the directory's ignore files. */
  readonly ignored: readonly IgnoreRule[];
  /** Whether all names in the directory must be checked for skills around it: one rules out a digest, or packages were not searched. */
  readonly needsWalk: boolean;
  /** Paths outside the directory on which the record depends, such as link targets, each with the path to watch for it. */
  readonly elsewhere: readonly { readonly target: string; readonly watch: string }[];
}

export interface DirectoryReading {
  readonly files: SkillFiles;
  /** Called before anything in a directory is read, so that no later change is missed. */
  readonly onDirectory?: ((directory: string) => void) | undefined;
}

/** Directories that are not searched for skills. */
export const skipped: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"]);
/** The ignore files. `.ignore` comes second, so that it overrides `.gitignore`. */
const ignoreFiles: readonly string[] = [".gitignore", ".ignore"];
export const manifestName = "skill.toml";
const headBytes = 4096;
const none: readonly never[] = Object.freeze([]);

/** Loaded with the first skill.toml, because loading costs more than listing a thousand skills. */
let readManifest: ((files: SkillFiles, directory: string, entry: DirectoryEntry) => ManifestReading) | undefined;

/** Returned for a skill with a manifest until {@link loadManifestReader} was awaited. */
export const needsManifestReader = Symbol("needs the manifest reader");

export async function loadManifestReader(): Promise<void> {
  readManifest = (await import("./read-manifest-file.ts")).readManifestFile;
}

/** A record under construction. */
interface Draft {
  readonly findings: Finding[];
  readonly children: DirectoryRecord["children"][number][];
  readonly dangling: string[];
  readonly elsewhere: DirectoryRecord["elsewhere"][number][];
  /** The SKILL.md in any spelling, skill.toml and ignore files. */
  readonly definitions: DirectoryEntry[];
  /** Files whose name resembles SKILL.md. */
  readonly near: string[];
  needsWalk: boolean;
  hasSignature: boolean;
}

/**
 * Reads one directory without a pause, so that the record is consistent; undefined if the directory no longer exists. An unreadable
 * directory or file is a finding.
 */
export function readDirectory(
  directory: string,
  expectedName: string,
  reading: DirectoryReading,
): DirectoryRecord | typeof needsManifestReader | undefined {
  const { files, onDirectory } = reading;
  onDirectory?.(directory);
  const draft: Draft = {
    findings: [],
    children: [],
    dangling: [],
    elsewhere: [],
    definitions: [],
    near: [],
    needsWalk: false,
    hasSignature: false,
  };
  const { findings, children, dangling, definitions, near } = draft;
  try {
    for (const entry of files.list(directory)) addEntry(draft, directory, entry, reading);
  } catch (error) {
    if (isGone(files, directory)) return undefined;
    findings.push(unreadableFinding(directory, error));
  }
  if (children.length > 1) children.sort((a, b) => byCodePoint(a.name, b.name));

  const entry = chooseSkillFile(definitions);
  let skill: Skill | undefined;
  if (entry !== undefined) {
    const manifestEntry = definitions.length > 1 ? definitions.find(({ name }) => name === manifestName) : undefined;
    if (manifestEntry !== undefined && readManifest === undefined) return needsManifestReader;
    const manifest = manifestEntry && readManifest?.(files, directory, manifestEntry);
    const parsed = readSkill(files, { directory, expectedName, entry, manifest });
    skill = draft.hasSignature && parsed.skill ? Object.freeze({ ...parsed.skill, hasSignature: true }) : parsed.skill;
    const entrypoint = skill?.manifest?.runtime?.entrypoint;
    if (entrypoint !== undefined) {
      const target = path.join(directory, entrypoint);
      depend(draft, { target, watch: path.dirname(target) }, reading);
    }
    if (parsed.findings.length > 0) findings.push(...parsed.findings);
  }
  const isPlain =
    near.length === 0 && (definitions.length === 0 || (definitions.length === 1 && definitions[0] === entry));
  return {
    path: directory,
    expectedName,
    isSkill: entry !== undefined,
    skill,
    identity: entry?.link === true ? linkedIdentity(files, directory, entry) : directory,
    ignored: isPlain ? none : orNone(readIgnoreFiles(files, directory, draft)),
    findings: orNone(findings),
    children: orNone(children),
    unread: isPlain ? none : orNone(findUnread(files, directory, draft, entry)),
    dangling: orNone(dangling),
    needsWalk: draft.needsWalk,
    elsewhere: orNone(draft.elsewhere),
  };
}

/** Whether a name resembles SKILL.md; `SKILLS.md` may also be prose about skills. */
function isNearSkillFileName(name: string): boolean {
  return name.length <= 14 && /^skills?\.(?:md|mdx|markdown|txt|md\.txt)$/i.test(name);
}

function definesSkill(name: string): boolean {
  return isSkillFileName(name) || name === manifestName || ignoreFiles.includes(name);
}

function addEntry(draft: Draft, directory: string, entry: DirectoryEntry, reading: DirectoryReading): void {
  const { name, kind, link } = entry;
  if (name === "node_modules" || fileNameFault(name) !== undefined) draft.needsWalk = true;
  if (kind === "dangling" && mayNameSkill(name)) draft.dangling.push(name);
  const isDefinition = definesSkill(name);
  if (isDefinition) draft.definitions.push(entry);
  else if (kind === "file" || kind === "other" || skipped.has(name)) {
    if (kind === "file" && isNearSkillFileName(name)) draft.near.push(name);
    if (name === signatureFile) draft.hasSignature = true;
    return;
  }
  if (link) addLink(draft, directory, entry, reading);
  else if (kind === "directory" && !isDefinition) draft.children.push({ name, target: undefined });
}

/** Whether a dangling link may have been a skill: neither an editor's .# link for an open file, nor a name with an extension. */
function mayNameSkill(name: string): boolean {
  return !name.startsWith(".") && !/\.[a-z]{1,4}$/i.test(name);
}

/** Adds a link. Its target may disappear and return, and every link on the way may change. */
function addLink(draft: Draft, directory: string, { name, kind }: DirectoryEntry, reading: DirectoryReading): void {
  const link = joinPath(directory, name);
  depend(draft, { target: link, watch: link }, reading);
  const target = resolveForUs(reading.files, link);
  if (target === undefined) return;
  if (kind === "file") depend(draft, { target, watch: path.dirname(target) }, reading);
  else if (kind !== "directory" || definesSkill(name)) return;
  else if (isWithin(directory, target)) draft.findings.push(directoryLoop(link, target));
  else draft.children.push({ name, target });
}

function depend(draft: Draft, elsewhere: DirectoryRecord["elsewhere"][number], reading: DirectoryReading): void {
  draft.elsewhere.push(elsewhere);
  reading.onDirectory?.(elsewhere.watch);
}

/** Chooses the file to read if there are several: regular files first, then SKILL.md before skill.md before other spellings. */
function chooseSkillFile(entries: readonly DirectoryEntry[]): DirectoryEntry | undefined {
  let best: DirectoryEntry | undefined;
  for (const entry of entries) {
    if (isSkillFileName(entry.name) && (best === undefined || rank(entry) < rank(best))) best = entry;
  }
  return best;
}

function rank({ name, kind }: DirectoryEntry): string {
  const spelling = name === "SKILL.md" ? "0" : name === "skill.md" ? "1" : `2${name}`;
  return (kind === "file" ? "0" : "1") + spelling;
}

/** A SKILL.md with the content of its skill.toml. */
interface SkillCandidate {
  readonly directory: string;
  readonly expectedName: string;
  readonly entry: DirectoryEntry;
  readonly manifest: ManifestReading | undefined;
}

/** Reads only as much of a SKILL.md as its frontmatter needs. */
function readSkill(files: SkillFiles, { directory, expectedName, entry, manifest }: SkillCandidate): ParsedSkill {
  const file = joinPath(directory, entry.name);
  if (entry.kind !== "file") return { skill: undefined, findings: [notAFile(file, entry.kind)] };
  try {
    for (let limit = headBytes; ; limit = Math.min(limit * 2, maxFrontmatterBytes)) {
      const { bytes, whole } = files.head(file, limit);
      const parsed = parseSkill({ directory, expectedName, file, head: bytes, whole }, manifest);
      const isCut = !whole && parsed.findings.some(({ code }) => code === "frontmatter-too-long");
      if (!isCut || limit >= maxFrontmatterBytes) return withDirectoryVersion(parsed, directory);
    }
  } catch (error) {
    return {
      skill: undefined,
      findings: [isSkillsError(error) ? unreadableFinding(file, error) : failedAt(file, error)],
    };
  }
}

/** Adds the version of `<skill>/<version>/`: the directory name is the version unless the skill declares one. */
function withDirectoryVersion(parsed: ParsedSkill, directory: string): ParsedSkill {
  const { skill, findings } = parsed;
  if (skill?.dialect !== "agent-skills" || skill.metadata.version !== undefined) return parsed;
  const version = path.basename(directory);
  return isVersion(version) ? { skill: Object.freeze({ ...skill, version }), findings } : parsed;
}

function readIgnoreFiles(files: SkillFiles, directory: string, { definitions, findings }: Draft): IgnoreRule[] {
  const present = ignoreFiles.filter((wanted) =>
    definitions.some(({ name, kind }) => name === wanted && kind === "file"),
  );
  return present.flatMap((name) => {
    const read = readIgnoreFile(files, joinPath(directory, name));
    findings.push(...read.findings);
    return read.patterns;
  });
}

/** Reports files that look like a skill but are not read; `chosen` is the file that is read as SKILL.md. */
function findUnread(
  files: SkillFiles,
  directory: string,
  { definitions, near }: Draft,
  chosen: DirectoryEntry | undefined,
): readonly Finding[] {
  const regular = definitions.filter(({ kind }) => kind === "file");
  if (chosen !== undefined) {
    const others = regular.filter((entry) => entry !== chosen && isSkillFileName(entry.name));
    return others.map(({ name }) => unusedFile(joinPath(directory, name), chosen.name));
  }
  const manifests = regular.filter(({ name }) => name === manifestName);
  const misnamed = near.map((name) => joinPath(directory, name)).filter((file) => hasSkillHead(files, file));
  return [...manifests.map(({ name }) => manifestAlone(joinPath(directory, name))), ...misnamed.map(misnamedFile)];
}

/** Whether a file starts like a SKILL.md, unlike prose about skills. */
function hasSkillHead(files: SkillFiles, file: string): boolean {
  const text = attempt(() => Buffer.from(files.head(file, headBytes).bytes).toString("utf8"), "");
  return /^\ufeff?---[ \t]*\r?\n/.test(text) && /^(?:name|description)[ \t]*:/m.test(text);
}

function isGone(files: SkillFiles, directory: string): boolean {
  // A name that is not UTF-8 cannot be resolved, but exists. The parent may be readable without search permission.
  return !/\p{Cs}/u.test(directory) && attempt(() => files.resolve(directory) === undefined, false);
}

/** The real target of a link. A target behind a directory without permission counts as missing, as in the kind of its entry. */
function resolveForUs(files: SkillFiles, link: string): string | undefined {
  return attempt(() => files.resolve(link), undefined);
}

/** The identity of a skill whose SKILL.md is a link. A link to another skill's SKILL.md is the same skill. */
function linkedIdentity(files: SkillFiles, directory: string, entry: DirectoryEntry): string {
  const target = resolveForUs(files, joinPath(directory, entry.name));
  if (target === undefined) return directory;
  return isSkillFileName(path.basename(target)) ? path.dirname(target) : target;
}

/** Returns one shared list for all empty lists, which saves memory: most lists are empty. */
function orNone<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? none : items;
}
