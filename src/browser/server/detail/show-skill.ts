import path from "node:path";
import { viewSkills } from "../../../runtime/caller.ts";
import { runInSlices } from "../../../base/promises.ts";
import { isDeclared, maxMountedBytes, trustRequest } from "../../../runtime/runs.ts";
import { permissionsOf, noCapabilities } from "../../../skills/permissions.ts";
import { type Skill, isScript } from "../../../skills/skill.ts";
import { describeDemand, matchSkill } from "../../../skills/environment.ts";
import { type HashedSkill, orNothing, walkSkill } from "../../../skills/hash.ts";
import { findLicense } from "../../../skills/licenses.ts";
import type { FullTrustRequest } from "../../../runtime/trust.ts";
import type { SkillDetail, DetailSection, ShownProblem } from "../../wire/skills.ts";
import type { BrowseContext } from "../browse-context.ts";
import type { ShownSkill } from "../rows/row-texts.ts";
import { findMentions, showPermissions, toWants } from "./permissions.ts";
import { findHidden, type ShownDocument, readDocument } from "./overview.ts";
import { loadAdviceReader } from "../../../skills/check.ts";
import { findInstallation } from "./installation.ts";
import type { HeadReader, SkillSource } from "../../../skills/files.ts";
import type { Problem } from "../../../skills/rules.ts";

const maxFiles = 4_096;

type Shown = Pick<BrowseContext, "app" | "session" | "nonces" | "readOnly" | "directory" | "home" | "machine">;

/** Hashes a skill's files; the result has no digest if the skill is too large. Rejects as the hasher does. */
export async function hashShown(
  { app: { hasher, source } }: Pick<BrowseContext, "app">,
  { directory }: Skill,
  signal: AbortSignal,
): Promise<HashedSkill> {
  return await hasher.hash(source, directory, signal, { maxBytes: maxMountedBytes });
}

/** The request for the user's trust in a skill with these bytes. */
export function requestOf(
  context: Pick<BrowseContext, "app" | "session">,
  { skill, digest }: { readonly skill: Skill; readonly digest: string },
  signal: AbortSignal,
): FullTrustRequest {
  const caller = {
    skills: viewSkills(context.session.catalog.snapshot, undefined),
    sourceOf: () => context.app.source,
    signatures: context.app.signatures,
    hashFiles: (one: Skill, aborted: AbortSignal) => hashShown(context, one, aborted),
  };
  return trustRequest({ skill, digest }, caller, { needs: permissionsOf(skill), signal });
}

/** Whether the hashed files, the document and the declarations shown are of one version: the user decides about all of them at once. */
async function isOfFiles(
  hashed: HashedSkill,
  skill: Skill,
  document: ShownDocument,
  sections: readonly DetailSection[],
  source: SkillSource,
): Promise<boolean> {
  const find = (name: string): HashedSkill["files"][number] | undefined =>
    hashed.files.find((file) => file.path === name);
  if (document.sha256 !== undefined && find(path.basename(skill.file))?.sha256 !== document.sha256) return false;
  // The form of a run shows the inputs that a manifest declares.
  const hasForm = sections.includes("run") && (skill.manifest ?? find("skill.toml")) !== undefined;
  return !(hasForm || sections.includes("permissions")) || (await isDeclared(skill, hashed, source));
}

interface ReadDetail {
  readonly detail: SkillDetail;
  /** Whether the files changed since the list was made; the detail has no digest then. */
  readonly isBehind: boolean;
}

/** The input from which the sections of one skill are read. */
interface Reading {
  readonly shown: ShownSkill;
  readonly document: ShownDocument;
  readonly digest: string | undefined;
  readonly hashed: HashedSkill["files"];
  readonly context: Shown;
  readonly signal: AbortSignal;
}

type SectionReader = (reading: Reading) => Partial<SkillDetail> | Promise<Partial<SkillDetail>>;

/** The readers of the sections. A skill that is not offered has only its text and its problems. */
const readers: Readonly<Record<DetailSection, SectionReader>> = {
  async overview({ shown: { offered }, document: { markdown, isWhole }, context }) {
    const installed = offered && (await findInstallation(offered.skill.directory, context));
    return { instructions: { markdown, isWhole }, hidden: findHidden(markdown), installed };
  },
  async manifest({ shown: { offered }, document: { frontmatter }, context: { app } }) {
    if (offered === undefined)
      return { frontmatter: frontmatter(), wants: toWants(noCapabilities), detected: { hosts: [], environment: [] } };
    const { skill } = offered;
    const { files } = await runInSlices(walkSkill(app.source.files, skill.directory));
    const detected = await runInSlices(findMentions(files, app.source));
    return { frontmatter: frontmatter(), manifest: skill.manifest, wants: toWants(permissionsOf(skill)), detected };
  },
  async problems({ shown: { offered, problems }, hashed, context: { app, directory: project } }) {
    const { files } = app.source;
    const { adviceAbout, readProjectAdvice } = await loadAdviceReader();
    const { advice } = readProjectAdvice(project, files);
    const name = offered && path.basename(offered.skill.directory);
    return {
      problems: withFrames(problems, files),
      advice: name === undefined ? [] : adviceAbout(advice, name, hashed),
    };
  },
  async permissions({ shown: { offered }, digest, context, signal }) {
    if (offered === undefined) return { permissions: noPermissions };
    const { skill } = offered;
    const permissions = await showPermissions(offered, digest, context, (digest) =>
      requestOf(context, { skill, digest }, signal),
    );
    return { permissions };
  },
  async environment({ shown: { offered }, context: { app, machine } }) {
    if (offered === undefined) return { environment: [] };
    const probes = { machine: machine(), findSandbox: () => app.findSandbox() };
    const matches = await matchSkill(offered.skill, app.source, probes);
    return { environment: matches.map((match) => ({ ...match, requirement: describeDemand(match.requirement) })) };
  },
  license: ({ shown: { offered }, context: { app } }) => ({
    license: offered === undefined ? { status: "unspecified", files: [] } : findLicense(app.source, offered.skill),
  }),
  run: ({ shown: { offered } }) => ({ inputs: offered?.skill.manifest?.inputs ?? {} }),
};

const noPermissions: SkillDetail["permissions"] = {
  wants: toWants(noCapabilities),
  grants: [],
  isBlocked: false,
  isFree: false,
  hostCommands: [],
  widened: [],
  changedFiles: [],
};

export const detailSections = Object.keys(readers) as readonly DetailSection[];

const noDocument: ShownDocument = { markdown: "", isWhole: true, frontmatter: () => ({}) };

/** Reads the named sections of one skill now. */
export async function readSkillDetail(
  shown: ShownSkill,
  sections: readonly DetailSection[],
  context: Shown,
  signal: AbortSignal,
): Promise<ReadDetail> {
  const { app, nonces, readOnly } = context;
  const { row, offered, file } = shown;
  const isText = sections.includes("overview") || sections.includes("manifest");
  const isDecided = sections.includes("permissions") || sections.includes("run");
  // The problems of the skill say why it cannot be read.
  const document = (isText ? orNothing(() => readDocument(app.source.files, file)) : undefined) ?? noDocument;
  const hashed = offered && (await hashShown(context, offered.skill, signal));
  const isBehind =
    offered !== undefined &&
    hashed?.digest !== undefined &&
    !(await isOfFiles(hashed, offered.skill, document, sections, app.source));
  const digest = isBehind ? undefined : hashed?.digest;
  const files = hashed?.files ?? [];
  const isUnhashed = hashed !== undefined && hashed.digest === undefined;
  const read: Partial<SkillDetail>[] = [];
  for (const name of sections)
    read.push(await readers[name]({ shown, document, digest, hashed: files, context, signal }));
  const detail = {
    row,
    scripts: files.map((one) => one.path).filter(isScript),
    files: files.slice(0, maxFiles).map((one) => ({ path: one.path, sizeBytes: one.size_bytes, sha256: one.sha256 })),
    filesOmitted: Math.max(0, files.length - maxFiles) + Number(isUnhashed),
    digest,
    nonce: isDecided && offered !== undefined && !readOnly ? nonces.of(row.id, digest) : undefined,
  };
  return { detail: Object.assign(detail, ...read) as SkillDetail, isBehind };
}

/** The number of lines shown before and after a problem. */
const context = 2;
const maxLines = 12;
const maxLineLength = 400;
const readBytes = 512 * 1024;
const maxProblems = 500;

/** Adds the lines around each problem; none for a file that cannot be read. */
function withFrames(problems: readonly Problem[], files: HeadReader): readonly ShownProblem[] {
  const texts = new Map<string, readonly string[]>();
  return problems.slice(0, maxProblems).map((problem) => {
    const { file, line, endLine = line } = problem;
    // A directory or a removed file has no lines.
    const head = texts.has(file) ? undefined : orNothing(() => files.head(file, readBytes));
    const text = head && Buffer.from(head.bytes).toString("utf8");
    if (text !== undefined) texts.set(file, text.split(/\r\n|\n|\r/));
    const first = Math.max(1, line - context);
    const shown = texts.get(file)?.slice(first - 1, Math.min(endLine + context, first + maxLines - 1)) ?? [];
    return { ...problem, frame: shown.map((text, at) => ({ line: first + at, text: text.slice(0, maxLineLength) })) };
  });
}
