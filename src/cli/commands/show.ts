import { permissionsOf } from "../../skills/manifest/permissions.ts";
import { diskSkillFiles } from "../../skills/files/disk-skill-files.ts";
import { readSkillDocument } from "../../skills/text/skill-document.ts";
import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import { diskSkillBytes } from "../../skills/files/disk-skill-bytes.ts";
import { openSkillHasher } from "../../skills/hash/hash-skill.ts";
import type { HashedSkill } from "../../skills/hash/hash-skill.ts";
import { maxListedFiles } from "../../tools/input/limits.ts";
import { callsOf } from "../../runs/plan/dependencies.ts";
import type { CalledSkill } from "../../runs/plan/dependencies.ts";
import { viewSkills } from "../../tools/view/skill-view.ts";
import { listing, notes } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { describeSkill } from "../report/describe-skill.ts";
import { jsonText } from "../report/json-text.ts";
import { toListedSkill } from "../report/listed-skill.ts";
import { noSuchSkill } from "../../skills/no-such-skill.ts";
import { openListing } from "../open-listing.ts";

/** A longer body is truncated. */
const shownBytes = 1024 * 1024;

export const show = defineCommand({
  usage: "show NAME [options]",
  positionals: { name: "NAME", minimum: 1, maximum: 1 },
  options: listing,
  examples: ["show pdf", "show salesforce.leads.sync --json"],
  notes: [
    "NAME is the name (salesforce.leads.sync) or the slug (salesforce-leads-sync).",
    notes.roots,
    "Exits with 1 if there is no such skill, or a --skills directory cannot be read.",
  ],
  async run({ options, positionals: [name = ""] }, terminal) {
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
  },
});

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
    permissions: permissionsOf(skill),
    ...(skill.manifest !== undefined && { manifest: skill.manifest }),
    ...(calls.length > 0 && { calls }),
    problems,
  };
}

/** As `describe_skill` returns them. */
async function hashFiles({ directory }: Skill): Promise<HashedSkill> {
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  return await openSkillHasher().hash(source, directory, new AbortController().signal);
}

function readBody({ file }: Skill): string {
  const { bytes, whole } = diskSkillFiles().head(file, shownBytes);
  const { body } = readSkillDocument(Buffer.from(bytes).toString("utf8"));
  return whole ? body : `${body}\n… (cut; the whole text is in ${file})`;
}
