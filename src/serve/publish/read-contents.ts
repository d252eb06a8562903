import { createHash } from "node:crypto";
import path from "node:path";
import type { Steps } from "../../base/promises.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { FileStamp, SkillSource } from "../../skills/files.ts";
import { type Walk, type WalkedFile, walkSkill } from "../../skills/hash.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { beginsAsScript } from "../../base/text/content.ts";
import { type Skill, signatureFile } from "../../skills/skill.ts";
import { skillLimits } from "../../sources/source.ts";
import type { SkillFile } from "../../sources/reader.ts";

/** The reason why a skill is not published: the end of a sentence that starts with its name. */
export interface NotPublished {
  readonly why: string;
}

/** All files of a skill as they were at one moment: SKILL.md, then the others by code point. */
export interface SkillContents {
  readonly files: readonly SkillFile[];
  /** Equal stamps mean equal files. Undefined right after a write, because equality is uncertain then. */
  readonly stamp: string | undefined;
  /** Whether the skill has hidden files, which are not published. */
  readonly hasHidden: boolean;
}

/** Stamps the contents of a skill without reading them, by the files that its digest covers and their stamps on the disk. */
export function* stampSkill(source: SkillSource, skill: Skill): Steps<string | undefined | NotPublished> {
  const walked = yield* walkPublished(source, skill);
  return isNotPublished(walked) ? walked : yield* stampFiles(walked.files, source.bytes);
}

/** The bytes of a file that are read before its size is known: too large a file is not read completely. */
const maxReadUnseen = 1024 * 1024;
/** The maximum number of attempts to read a skill that is being written. */
const maxReadings = 3;

/** Reads the files of a skill, all of one version. */
export function* readContents(source: SkillSource, skill: Skill): Steps<SkillContents | NotPublished> {
  for (let left = maxReadings; left > 0; left--) {
    const walk = yield* walkPublished(source, skill);
    if (isNotPublished(walk)) return walk;
    const { files: walked, hasHidden } = walk;
    const stamps = new Map<string, FileStamp>();
    const files = yield* readFiles(source, skill, walked, stamps);
    if (files === undefined) continue;
    if (isNotPublished(files)) return files;
    const before = yield* stampFiles(walked, { stamp: (real) => stamps.get(real) });
    const stamp = yield* stampFiles(walked, source.bytes);
    if (before === stamp) return { files, stamp, hasHidden };
  }
  return { why: "is being changed" };
}

/** Returns the result of `steps`; a skill that cannot be read is left out. */
export function* orLeftOut<Value>(steps: Steps<Value | NotPublished>): Steps<Value | NotPublished> {
  try {
    return yield* steps;
  } catch (error) {
    if (isSkillsError(error, "UNREADABLE")) return { why: `cannot be read: ${error.message}` };
    throw error;
  }
}

export function isNotPublished(value: unknown): value is NotPublished {
  return typeof value === "object" && value !== null && "why" in value;
}

/** Lists the files that the digest covers, and the signature file. */
function* walkPublished({ files }: SkillSource, { directory, hasSignature }: Skill): Steps<Walk | NotPublished> {
  if (files.resolve(directory) !== directory) return { why: "has moved" };
  const walked = yield* walkSkill(files, directory);
  const bundle = path.join(directory, signatureFile);
  const isPublished = hasSignature === true && files.resolve(bundle) === bundle;
  const signature = isPublished ? [{ path: signatureFile, real: bundle }] : [];
  const walk = { ...walked, files: [...walked.files, ...signature].sort((a, b) => byCodePoint(a.path, b.path)) };
  if (!walk.complete || walk.files.length > skillLimits.files)
    return { why: `has more than ${skillLimits.files} files` };
  return walk;
}

function* stampFiles(
  walked: readonly WalkedFile[],
  { stamp: stampOf }: Pick<SkillSource["bytes"], "stamp">,
): Steps<string | undefined> {
  const stamps = createHash("sha256");
  let isCertain = true;
  for (const { path: name, real } of walked) {
    const stamp = stampOf(real);
    if (stamp !== undefined && stamp.version === undefined) isCertain = false;
    stamps.update(`${name}\0${stamp?.version ?? ""}\0`);
    yield;
  }
  return isCertain ? stamps.digest("base64") : undefined;
}

/** Reads files; undefined if one disappeared or changed its size meanwhile. Adds their stamps by real path. */
function* readFiles(
  { bytes }: SkillSource,
  { file, directory }: Skill,
  walked: readonly WalkedFile[],
  stamps: Map<string, FileStamp>,
): Steps<readonly SkillFile[] | NotPublished | undefined> {
  const manifest = path.relative(directory, file);
  const read: SkillFile[] = [];
  let left: number = skillLimits.bytes;
  for (const { path: name, real } of walked) {
    let part = bytes.head(real, Math.min(left, maxReadUnseen));
    if (part !== undefined && part.size > left)
      return { why: `has more than ${skillLimits.bytes / 1024 / 1024} MiB of files` };
    if (part !== undefined && part.size > maxReadUnseen) part = bytes.head(real, left);
    if (part === undefined || part.bytes.length !== part.size) return undefined;
    stamps.set(real, { size: part.size, version: part.version });
    left -= part.size;
    // Clients expect exactly this spelling.
    const isManifest = name === manifest;
    const { bytes: content } = part;
    const entry = { path: isManifest ? skillFileName : name, bytes: content, executable: beginsAsScript(content) };
    if (isManifest) read.unshift(entry);
    else read.push(entry);
    yield;
  }
  return read[0]?.path === skillFileName ? read : { why: "has its SKILL.md outside its directory" };
}

const skillFileName = "SKILL.md";
