import { diskSkillFiles } from "../../skills/files/disk-skill-files.ts";
import { readSkillDocument } from "../../skills/text/skill-document.ts";
import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import { diskSkillBytes } from "../../skills/files/disk-skill-bytes.ts";
import { openSkillHasher } from "../../skills/hash/hash-skill.ts";
import type { HashedSkill } from "../../skills/hash/hash-skill.ts";
import { maxListedFiles } from "../../tools/limits.ts";
import { callsOf } from "../../runs/plan/calls-of.ts";
import type { CalledSkill } from "../../runs/plan/calls-of.ts";
import { viewSkills } from "../../tools/view/skill-view.ts";
import { describeSkill } from "../report/describe-skill.ts";
import { jsonText } from "../report/json-text.ts";
import { toListedSkill } from "../report/listed-skill.ts";
import { noSuchSkill } from "../../skills/no-such-skill.ts";
import { openListing } from "../open-listing.ts";
import type { ListingOptions } from "../open-listing.ts";
import type { Terminal } from "../report/terminal.ts";

/** More of a body than this is not for reading in a terminal. */
const shownBytes = 1024 * 1024;

/** `acp-skills show NAME`: 1 where there is no such skill, or a directory that was asked for cannot be read. */
export async function runShow(name: string, options: ListingOptions, terminal: Terminal): Promise<number> {
  const { catalog, complete } = await openListing(options, terminal);
  const offered = catalog.find(name);
  if (offered === undefined) {
    terminal.tell(noSuchSkill(name, catalog.snapshot));
    return 1;
  }
  const hashed = await hashFiles(offered.skill);
  const calls = callsOf(offered.skill, viewSkills(catalog.snapshot, undefined));
  if (options.json === true) await terminal.print([jsonText(toShownSkill(offered, hashed, calls), 2), "\n"]);
  else await terminal.print(describeSkill({ offered, hashed, calls, body: readBody(offered.skill) }, terminal));
  return complete ? 0 : 1;
}

/** Everything about one skill, keys in a fixed order. */
function toShownSkill(offered: OfferedSkill, { files, digest }: HashedSkill, calls: readonly CalledSkill[]): object {
  const { skill, sources, versions } = offered;
  const { problems, ...listed } = toListedSkill(offered, digest);
  return {
    ...listed,
    dialect: skill.dialect,
    tags: skill.tags,
    sources,
    versions: versions.map(({ version, file }) => ({ version, path: file })),
    files: files.slice(0, maxListedFiles),
    ...(skill.manifest !== undefined && { manifest: skill.manifest }),
    ...(calls.length > 0 && { calls }),
    problems,
  };
}

/** As describe_skill tells them. */
async function hashFiles({ directory }: Skill): Promise<HashedSkill> {
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  return await openSkillHasher().hash(source, directory, new AbortController().signal);
}

function readBody({ file }: Skill): string {
  const { bytes, whole } = diskSkillFiles().head(file, shownBytes);
  const { body } = readSkillDocument(Buffer.from(bytes).toString("utf8"));
  return whole ? body : `${body}\n… (the rest is in ${file})`;
}
