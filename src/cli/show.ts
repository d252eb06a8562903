import { statSync } from "node:fs";
import path from "node:path";
import { digestSkill } from "../skills/digest.ts";
import { diskSkillFiles } from "../skills/disk-skill-files.ts";
import { listSkillContents } from "../skills/skill-contents.ts";
import { readSkillDocument } from "../skills/skill-document.ts";
import type { OfferedSkill, Skill } from "../skills/skill.ts";
import { describeSkill, type SkillContent } from "./describe-skill.ts";
import { jsonText } from "./json-text.ts";
import { toListedSkill } from "./listed-skill.ts";
import { noSuchSkill } from "./no-such-skill.ts";
import { openListing } from "./open-listing.ts";
import type { ListingOptions } from "./open-listing.ts";
import type { Terminal } from "./terminal.ts";

/** More of a body than this is not for reading in a terminal. */
const shownBytes = 1024 * 1024;
/** The most files that are named (C-3.2). */
const shownFiles = 512;

/** `acp-skills show NAME`: 1 where there is no such skill, or a directory that was asked for cannot be read. */
export async function runShow(name: string, options: ListingOptions, terminal: Terminal): Promise<number> {
  const { catalog, complete } = await openListing(options, terminal);
  const offered = catalog.find(name);
  if (offered === undefined) {
    terminal.tell(noSuchSkill(name, catalog.snapshot));
    return 1;
  }
  const digest = await readDigest(offered.skill, terminal);
  const { directory } = offered.skill;
  const { paths, more: moreFiles } = await listSkillContents(directory, shownFiles);
  const files = paths.map((file) => ({ path: file, size_bytes: fileSize(path.join(directory, file)) }));
  if (options.json === true) await terminal.print([jsonText(toShownSkill(offered, files, digest), 2), "\n"]);
  else {
    const body = readBody(offered.skill);
    await terminal.print(describeSkill({ offered, files, moreFiles, digest, body }, terminal));
  }
  return complete ? 0 : 1;
}

/** Everything about one skill, keys in a fixed order. */
function toShownSkill(offered: OfferedSkill, files: readonly SkillContent[], digest: string | undefined): object {
  const { skill, sources, versions } = offered;
  const { problems, ...listed } = toListedSkill(offered, digest);
  return {
    ...listed,
    dialect: skill.dialect,
    tags: skill.tags,
    sources,
    versions: versions.map(({ version, file }) => ({ version, path: file })),
    files,
    ...(skill.manifest !== undefined && { manifest: skill.manifest }),
    problems,
  };
}

async function readDigest({ directory }: Skill, terminal: Terminal): Promise<string | undefined> {
  try {
    return await digestSkill(directory);
  } catch (error) {
    terminal.tell(
      `no digest, as not every file can be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

function readBody({ file }: Skill): string {
  const { bytes, whole } = diskSkillFiles().head(file, shownBytes);
  const { body } = readSkillDocument(Buffer.from(bytes).toString("utf8"));
  return whole ? body : `${body}\n… (the rest is in ${file})`;
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
