import path from "node:path";
import { localOwner, viewSkills } from "../../../runtime/caller.ts";
import { runInSlices } from "../../../base/promises.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { maxMountedBytes, readPlannedFile, subjectOfOffered, trustRequest } from "../../../runtime/runs.ts";
import { needsOf, noCapabilities } from "../../../skills/permissions.ts";
import { type OfferedSkill, type Skill, isScript } from "../../../skills/skill.ts";
import { describeDemand, matchSkill } from "../../../skills/environment.ts";
import { type HashedSkill, walkSkill } from "../../../skills/hash.ts";
import { declaresSame } from "../../../skills/skillset.ts";
import { findLicense } from "../../../skills/licenses.ts";
import type { FullTrustRequest } from "../../../runtime/trust.ts";
import type { SkillDetail } from "../../wire/skills.ts";
import { projectSkill } from "../../../wire/command-facts.ts";
import type { BrowseDoor } from "../browse-door.ts";
import type { ShownSkill } from "../rows/row-texts.ts";
import { withFrames } from "./problems.ts";
import { findMentions, showPermissions, toWants } from "./permissions.ts";
import { findHidden, type ShownDocument, readDocument } from "./overview.ts";
import { findInstallation } from "./installation.ts";

const mostFiles = 4_096;

type Shown = Pick<BrowseDoor, "app" | "session" | "nonces" | "readOnly" | "directory" | "home" | "machine">;

/** A skill's files with their digests; none of one that is too large. Rejects as the hasher does. */
export async function hashShown(
  { app: { hasher, source } }: Pick<BrowseDoor, "app">,
  { directory }: Skill,
  signal: AbortSignal,
): Promise<HashedSkill> {
  return await hasher.hash(source, directory, signal, { maxBytes: maxMountedBytes });
}

/** What a skill with these bytes asks of its person. */
export function requestOf(
  door: Pick<BrowseDoor, "app" | "session">,
  { skill, digest }: { readonly skill: Skill; readonly digest: string },
  signal: AbortSignal,
): FullTrustRequest {
  const caller = {
    skills: viewSkills(door.session.catalog.snapshot, undefined),
    sourceOf: () => door.app.source,
    hashFiles: (one: Skill, aborted: AbortSignal) => hashShown(door, one, aborted),
  };
  return trustRequest({ skill, digest }, caller, { needs: needsOf(skill), signal });
}

/** Whether the files of a digest are what a person is shown: they decide about both at once. */
async function isOfFiles(
  { files }: HashedSkill,
  { skill, document }: { readonly skill: Skill; readonly document: ShownDocument },
  { app: { source } }: Pick<Shown, "app">,
): Promise<boolean> {
  const find = (name: string): HashedSkill["files"][number] | undefined => files.find((file) => file.path === name);
  if (document.sha256 !== undefined && find(path.basename(skill.file))?.sha256 !== document.sha256) return false;
  return await declaresSame(skill, (name) => {
    const file = find(name);
    return file && readPlannedFile(source, skill.directory, file);
  });
}

interface ReadDetail {
  readonly detail: SkillDetail;
  /** Its files changed since the list was made, so that the detail has no digest. */
  readonly isBehind: boolean;
}

/** Everything about one skill, read now. */
export async function readSkillDetail(shown: ShownSkill, door: Shown, signal: AbortSignal): Promise<ReadDetail> {
  const { app } = door;
  const document = readOrNothing(() => readDocument(app.source.files, shown.file));
  const common = {
    row: shown.row,
    file: shown.file,
    instructions: { markdown: document.markdown, isWhole: document.isWhole },
    hidden: findHidden(document.markdown),
    frontmatter: document.frontmatter,
    problems: withFrames(shown.problems, app.source.files),
  };
  const { offered } = shown;
  if (offered === undefined) return { detail: { ...common, ...nothingOffered }, isBehind: false };
  const hashed = await hashShown(door, offered.skill, signal);
  const isBehind = hashed.digest !== undefined && !(await isOfFiles(hashed, { skill: offered.skill, document }, door));
  const files = isBehind ? { ...hashed, digest: undefined } : hashed;
  return { detail: { ...common, ...(await showOffered(offered, shown, files, door, signal)) }, isBehind };
}

type OfferedPart = Omit<SkillDetail, "row" | "file" | "instructions" | "hidden" | "frontmatter" | "problems">;

const nothingOffered: OfferedPart = {
  sources: [],
  versions: [],
  inputs: {},
  scripts: [],
  files: [],
  filesOmitted: 0,
  permissions: {
    wants: toWants(noCapabilities),
    detected: { hosts: [], environment: [] },
    grants: [],
    isBlocked: false,
    isFree: false,
    widened: [],
    changedFiles: [],
  },
  environment: [],
  license: { status: "unspecified", files: [] },
};

async function showOffered(
  offered: OfferedSkill,
  { row }: ShownSkill,
  { files, digest }: HashedSkill,
  door: Shown,
  signal: AbortSignal,
): Promise<OfferedPart> {
  const { app, nonces, readOnly, directory, machine } = door;
  const { source } = app;
  const { skill, sources, remote, versions } = offered;
  const walked = await runInSlices(walkSkill(source.files, skill.directory));
  const detected = await runInSlices(findMentions(walked.files, source));
  const license = findLicense(source, skill);
  const installed = await findInstallation(skill.directory, door);
  const matches = await matchSkill(skill, source, {
    machine: machine(),
    findSandbox: () => app.findSandbox(),
  });
  const permissions = await showPermissions({
    trust: await app.trust(),
    subject: subjectOfOffered(offered, source),
    needs: needsOf(skill),
    wants: needsOf(skill),
    request: digest === undefined ? undefined : requestOf(door, { skill, digest }, signal),
    owner: localOwner,
    directory,
  });
  return {
    wire: projectSkill(offered),
    sources: remote === undefined ? sources : [remote.label],
    versions: versions.map(({ version }) => version),
    ...(digest !== undefined && { digest }),
    ...(!readOnly && { nonce: nonces.of(row.id, digest) }),
    ...(skill.manifest !== undefined && { manifest: skill.manifest }),
    inputs: skill.manifest?.inputs ?? {},
    scripts: files.map(({ path }) => path).filter(isScript),
    files: files.slice(0, mostFiles).map(({ path, size_bytes: sizeBytes, sha256 }) => ({ path, sizeBytes, sha256 })),
    filesOmitted: Math.max(0, files.length - mostFiles) + (walked.complete ? 0 : 1),
    permissions: { ...permissions, detected },
    ...(installed !== undefined && { installed }),
    environment: matches.map(({ requirement, status, evidence, advice }) => ({
      requirement: describeDemand(requirement),
      status,
      evidence,
      ...(advice !== undefined && { advice }),
    })),
    license,
  };
}

function readOrNothing(read: () => ShownDocument): ShownDocument {
  try {
    return read();
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    return { markdown: "", isWhole: true, frontmatter: {} }; // The problems say why.
  }
}
