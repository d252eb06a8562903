import { isUtf8 } from "node:buffer";
import path from "node:path";
import { isSkillsError } from "../../errors.ts";
import { failedAt, notAFile, unreadable, wholeFile } from "./disk-findings.ts";
import { maxFrontmatterBytes, parseSkill } from "../manifest/parse-skill.ts";
import type { ManifestReading, ParsedSkill, SkillText } from "../manifest/parse-skill.ts";
import { joinPath } from "../files/skill-files.ts";
import type { Finding } from "../rules/rules.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import { isVersion } from "../manifest/skill-version.ts";
import type { Skill } from "../skill.ts";
import { openTextPositions } from "../text/text-positions.ts";
import { openTomlPositions } from "../text/toml-positions.ts";

const headBytes = 4096;
const maxManifestBytes = 32 * 1024;

/** Loaded with the first skill.toml, because loading costs more than listing a thousand skills. */
let readManifest: ((text: string, file: string) => ManifestReading) | undefined;

/** Returned for a skill with a manifest until {@link loadManifestReader} was awaited. */
export const needsManifestReader = Symbol("needs the manifest reader");

export async function loadManifestReader(): Promise<void> {
  readManifest = (await import("../manifest/read-manifest.ts")).readManifest;
}

/** A SKILL.md, and the skill.toml next to it. */
export interface SkillPlace {
  readonly directory: string;
  readonly expectedName: string;
  readonly entry: Entry;
  readonly manifestEntry: Entry | undefined;
}

/** Reads the skill of a directory; problems of its files are findings. */
export function readSkillFile(files: SkillFiles, place: SkillPlace): ParsedSkill | typeof needsManifestReader {
  const { directory, expectedName, entry, manifestEntry } = place;
  const file = joinPath(directory, entry.name);
  if (entry.kind !== "file") return { skill: undefined, findings: [notAFile(file, entry.kind)] };
  let manifest: ManifestReading | undefined;
  if (manifestEntry !== undefined) {
    if (readManifest === undefined) return needsManifestReader;
    manifest = readManifestFile(files, { directory, entry: manifestEntry, readManifest });
  }
  try {
    const parsed = readHead(files, { directory, expectedName, file }, manifest);
    const skill = withDirectoryVersion(parsed.skill, directory);
    return skill === parsed.skill ? parsed : { skill, findings: parsed.findings };
  } catch (error) {
    return { skill: undefined, findings: [isSkillsError(error) ? unreadable(file, error) : failedAt(file, error)] };
  }
}

/** Reads only as much of a file as its frontmatter needs. */
function readHead(
  files: SkillFiles,
  { directory, expectedName, file }: Omit<SkillText, "head" | "whole">,
  manifest: ManifestReading | undefined,
): ParsedSkill {
  for (let limit = headBytes; ; limit = Math.min(limit * 2, maxFrontmatterBytes)) {
    const { bytes, whole } = files.head(file, limit);
    const parsed = parseSkill({ directory, expectedName, file, head: bytes, whole }, manifest);
    if (whole || limit >= maxFrontmatterBytes) return parsed;
    if (!parsed.findings.some(({ code }) => code === "frontmatter-too-long")) return parsed;
  }
}

interface ManifestPlace {
  readonly directory: string;
  readonly entry: Entry;
  readonly readManifest: (text: string, file: string) => ManifestReading;
}

function readManifestFile(files: SkillFiles, { directory, entry, readManifest: read }: ManifestPlace): ManifestReading {
  const file = joinPath(directory, entry.name);
  const refuse = (message: string, fix: string): ManifestReading => ({
    findings: [wholeFile("manifest-unreadable", file, message, fix)],
  });
  if (entry.kind !== "file") return refuse(notAFile(file, entry.kind).message, "Replace it by a regular file.");
  try {
    const { bytes, whole } = files.head(file, maxManifestBytes);
    if (!whole) return refuse("skill.toml is 32 KiB or longer; it is ignored", "Shorten it.");
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    const reading = withEntrypoint(files, directory, read(text, file), file, text);
    return isUtf8(bytes) ? reading : { ...reading, findings: [notUtf8(file, text), ...reading.findings] };
  } catch (error) {
    const { message, fix } = unreadable(file, error);
    return refuse(message, fix);
  }
}

/** Adds a finding if the entrypoint does not exist. */
function withEntrypoint(
  files: SkillFiles,
  directory: string,
  reading: ManifestReading,
  file: string,
  text: string,
): ManifestReading {
  const entrypoint = reading.manifest?.runtime?.entrypoint;
  if (entrypoint === undefined || isThere(files, joinPath(directory, entrypoint))) return reading;
  const finding: Finding = {
    code: "manifest-entrypoint-missing",
    file,
    ...openTomlPositions(text)(["runtime", "entrypoint"]),
    message: `entrypoint \`${entrypoint}\` does not exist, so the skill cannot run`,
    fix: "Add the file, or correct its path, which is relative to the skill's directory.",
  };
  return { ...reading, findings: [...reading.findings, finding] };
}

function isThere(files: SkillFiles, target: string): boolean {
  try {
    return files.resolve(target) !== undefined;
  } catch {
    // It may exist behind a directory without permission; a run reports that.
    return true;
  }
}

/** The finding for invalid UTF-8, which is replaced. */
function notUtf8(file: string, text: string): Finding {
  const message = "invalid UTF-8 in skill.toml; it is replaced by U+FFFD";
  const position = openTextPositions(text)(Math.max(text.indexOf("\ufffd"), 0));
  return { code: "invalid-utf8", file, ...position, message, fix: "Save the file as UTF-8." };
}

/** In `<skill>/<version>/`, the directory name is the version unless the skill declares one (C-1.6). */
function withDirectoryVersion(skill: Skill | undefined, directory: string): Skill | undefined {
  if (skill?.dialect !== "agent-skills" || skill.metadata.version !== undefined) return skill;
  const version = path.basename(directory);
  return isVersion(version) ? Object.freeze({ ...skill, version }) : skill;
}
