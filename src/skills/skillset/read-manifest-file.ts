import { isUtf8 } from "node:buffer";
import { attempt } from "../../base/failures/system-error.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import type { DirectoryEntry, SkillFiles } from "../files.ts";
import type { ManifestReading } from "../manifest/parse-skill.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { Finding } from "../rules.ts";
import { createTextPositions } from "../../base/text/text-positions.ts";
import { createTomlPositions } from "../manifest/toml-positions.ts";
import { notAFile, unreadableFinding, wholeFile } from "./scan/disk-findings.ts";

const maxManifestBytes = 32 * 1024;

/** Reads the skill.toml of a directory. Also checks that its entrypoint exists. */
export function readManifestFile(files: SkillFiles, directory: string, entry: DirectoryEntry): ManifestReading {
  const file = joinPath(directory, entry.name);
  const refuse = (message: string, fix: string): ManifestReading => ({
    findings: [wholeFile("manifest-unreadable", file, message, fix)],
  });
  if (entry.kind !== "file") return refuse(notAFile(file, entry.kind).message, "Replace it by a regular file.");
  try {
    const { bytes, whole } = files.head(file, maxManifestBytes);
    if (!whole) return refuse("skill.toml is 32 KiB or longer; it is ignored", "Shorten it.");
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    const reading = readManifest(text, file);
    const findings = [...(isUtf8(bytes) ? [] : [notUtf8(file, text)]), ...reading.findings];
    const entrypoint = reading.manifest?.runtime?.entrypoint;
    // A file behind a directory without permission may exist; a run reports that.
    const isThere = (target: string): boolean => attempt(() => files.resolve(target) !== undefined, true);
    if (entrypoint !== undefined && !isThere(joinPath(directory, entrypoint))) {
      const range = createTomlPositions(text)(["runtime", "entrypoint"]);
      findings.push({ ...noEntrypoint(file, entrypoint), ...range });
    }
    return { ...reading, findings };
  } catch (error) {
    const { message, fix } = unreadableFinding(file, error);
    return refuse(message, fix);
  }
}

function noEntrypoint(file: string, entrypoint: string): Finding {
  const message = `entrypoint \`${entrypoint}\` does not exist, so the skill cannot run`;
  const fix = "Add the file, or correct its path, which is relative to the skill's directory.";
  return wholeFile("manifest-entrypoint-missing", file, message, fix);
}

/** The finding for invalid UTF-8, which is replaced. */
function notUtf8(file: string, text: string): Finding {
  const message = "invalid UTF-8 in skill.toml; it is replaced by U+FFFD";
  const position = createTextPositions(text)(Math.max(text.indexOf("\ufffd"), 0));
  return { code: "invalid-utf8", file, ...position, message, fix: "Save the file as UTF-8." };
}
