import { localOwner, viewSkills } from "../../../../runtime/caller.ts";
import { rootWithCopy } from "../../../../sources/install-scope.ts";
import { trustRequest } from "../../../../runtime/runs.ts";
import { permissionsOf } from "../../../../skills/permissions.ts";
import type { Catalog } from "../../../../skills/skillset.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../../skills/files.ts";
import { createSkillHasher } from "../../../../skills/hash.ts";
import { openSignatures } from "../../../../skills/signature.ts";
import type { Skill } from "../../../../skills/skill.ts";
import type { CopiedFile } from "../../../../skills/files.ts";
import type { CallingSkill, FullTrustRequest } from "../../../../runtime/trust.ts";
import { defaultDataDirectory } from "../../../../base/paths/directories.ts";
import { createListing, findOffered } from "../../../listing.ts";
import type { Approving } from "../approvals.ts";

/** A version of a skill on this machine, with its bytes as they are now. */
export interface InstalledVersion {
  readonly skill: Skill;
  readonly digest: string;
  readonly isOwn: boolean;
  /** Throws SKILL_NOT_READY if the skill changes meanwhile. */
  readonly files: () => Promise<readonly CopiedFile[]>;
  readonly request: (calledBy?: CallingSkill) => FullTrustRequest;
}

/** The readable versions of a skill that a session in `--cwd` would have, newest first. Throws SKILL_NOT_FOUND. */
export async function installedSkill(
  name: string,
  { options, terminal }: Pick<Approving, "options" | "terminal">,
): Promise<readonly InstalledVersion[]> {
  return await versionsIn((await createListing(options, terminal)).catalog, name);
}

/**
 * The version with this digest in the copy of a source that `--source` names; undefined without such a copy. The source is not read again:
 * `--source` may be only its label, which is what refusals name.
 */
export async function copiedVersion(
  name: string,
  digest: string,
  { options: { source: labels = [] }, terminal }: Pick<Approving, "options" | "terminal">,
): Promise<InstalledVersion | undefined> {
  const dataDirectory = defaultDataDirectory(terminal.home);
  const [root] = labels.flatMap((label) => rootWithCopy(dataDirectory, { label, digest }) ?? []);
  if (root === undefined) return undefined;
  const { catalog } = await createListing({ "no-default-roots": true }, terminal, [root]);
  if (catalog.find(name) === undefined) return undefined;
  return (await versionsIn(catalog, name)).find((version) => version.digest === digest);
}

async function versionsIn(catalog: Catalog, name: string): Promise<readonly InstalledVersion[]> {
  findOffered(catalog, name);
  const skills = viewSkills(catalog.snapshot, undefined);
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const hasher = createSkillHasher();
  const { signal } = new AbortController();
  const hashFiles = (skill: Skill) => hasher.hash(source, skill.directory, signal);
  const caller = { owner: localOwner, skills, sourceOf: () => source, hashFiles, signatures: openSignatures() };
  const versions: InstalledVersion[] = [];
  for (const skill of skills.find(name).versions) {
    const { digest } = await hashFiles(skill);
    if (digest === undefined) continue;
    const request = (calledBy?: CallingSkill): FullTrustRequest =>
      trustRequest({ skill, digest }, caller, { needs: permissionsOf(skill), calledBy, signal });
    versions.push({ skill, digest, isOwn: skills.isOwn(skill), request, files: () => request().files() });
  }
  return versions;
}
