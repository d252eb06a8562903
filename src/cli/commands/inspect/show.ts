import { type CalledSkill, callsOf } from "../../../runtime/runs.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../skills/files.ts";
import { findLicense } from "../../../skills/licenses.ts";
import { type HashedSkill, createSkillHasher } from "../../../skills/hash.ts";
import { permissionWords, permissionsOf } from "../../../skills/permissions.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import { readSkillDocument } from "../../../skills/document.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { viewSkills } from "../../../runtime/caller.ts";
import { listing, trustedRoot } from "../../arguments/shared-options.ts";
import { defineCommand } from "../../command.ts";
import { createListing, findOffered, findStates } from "../../listing.ts";
import { padToWidth } from "../../report/table.ts";
import { labelled, safeLines } from "../../report/safe-text.ts";
import { shownPath } from "../../../base/paths/location.ts";
import type { Terminal } from "../../report/terminal.ts";
import { openEnvironmentProbes } from "./env.ts";
import { toListedSkill } from "./list.ts";
import { type DeclaredArgument, readHostCommands } from "../../../skills/manifest.ts";
import { type Match, describeDemand, matchSkill, summarise } from "../../../skills/environment.ts";
import { type Signature, openSignatures, shippedRootDate, signatureWords } from "../../../skills/signature.ts";
import { maxListedFiles } from "../../../wire/tools.ts";

/** The maximum length of a shown body, in bytes; a longer body is truncated. */
const shownBytes = 1024 * 1024;

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 1, maximum: 1, values: "skills" },
  options: { ...listing, "trusted-root": trustedRoot },
  examples: ["show pdf", "show salesforce.leads.sync --json"],
  notes: ["NAME is the name (salesforce.leads.sync) or the slug (salesforce-leads-sync)."],
  async run({ options, positionals: [name = ""] }, terminal) {
    const { directory, catalog, status } = await createListing(options, terminal);
    const offered = findOffered(catalog, name);
    const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
    const probes = openEnvironmentProbes(catalog, source, {}, terminal);
    const { machine, findSandbox } = probes.of(offered.skill);
    const signatures = openSignatures(options["trusted-root"]);
    await signatures.check();
    const hashed = await createSkillHasher().hash(source, offered.skill.directory, new AbortController().signal);
    const facts: Facts = {
      offered,
      environment: await matchSkill(offered.skill, source, { machine, findSandbox }).finally(() => probes.close()),
      hashed,
      signature: await signatures.of(source, offered.skill, hashed.digest),
      trustedRoot: options["trusted-root"] ?? `of this package, as published on ${shippedRootDate}`,
      calls: callsOf(offered.skill, viewSkills(catalog.snapshot, undefined)),
      licenseFiles: findLicense(source, offered.skill).files,
      state: (await findStates([offered], directory, terminal)).get(offered.skill),
    };
    if (options.json === true) await terminal.printJson(toShownSkill(facts));
    else await terminal.print(describe(facts, terminal));
    return status;
  },
});

interface Facts {
  readonly offered: OfferedSkill;
  /** The requirements of the skill on this machine, without the probes that only `env` makes. */
  readonly environment: readonly Match[];
  /** The files and the digest of the skill, as in `describe_skill`. */
  readonly hashed: HashedSkill;
  readonly signature: Signature;
  /** The trusted root of the verification, in words. */
  readonly trustedRoot: string;
  /** Skills with permissions that its code can call. */
  readonly calls: readonly CalledSkill[];
  readonly licenseFiles: readonly string[];
  /** Why the skill cannot be used now; undefined if it can. */
  readonly state: string | undefined;
}

/** Everything about one skill, keys in a fixed order. */
function toShownSkill({ offered, environment, hashed: { files, digest }, calls, state, signature }: Facts): object {
  const { skill, sources, versions, problems } = offered;
  return {
    ...toListedSkill(offered, { ...(digest !== undefined && { digest }), state, signature }),
    dialect: skill.dialect,
    tags: skill.tags,
    sources,
    versions: versions.map(({ version, file }) => ({ version, path: file })),
    files: files.slice(0, maxListedFiles),
    permissions: permissionsOf(skill),
    host_commands: readHostCommands(skill.file, diskSkillFiles()),
    environment: summarise(environment) ?? null,
    ...(skill.manifest !== undefined && { manifest: skill.manifest }),
    ...(calls.length > 0 && { calls }),
    problems,
  };
}

function readBody({ file }: Skill): string {
  const { bytes, whole } = diskSkillFiles().head(file, shownBytes);
  const { body } = readSkillDocument(Buffer.from(bytes).toString("utf8"));
  return whole ? body : `${body}\n… (cut; the whole text is in ${file})`;
}

/** Human-readable text for one skill: its fields, inputs, permissions and files, its problems, and its instructions. */
function* describe(
  { offered, environment, hashed, calls, licenseFiles, state, signature, trustedRoot }: Facts,
  { cwd, paint }: Terminal,
): Iterable<string> {
  const { skill, sources, remote, versions, problems } = offered;
  const files = hashed.files.slice(0, maxListedFiles);
  const hostCommands = readHostCommands(skill.file, diskSkillFiles());
  const field = labelled(paint, 15);
  yield field("name", skill.name);
  if (skill.slug !== skill.name) yield field("slug", skill.slug);
  yield field("version", skill.version);
  yield field("kind", skill.kind);
  yield field("state", state);
  yield field("namespace", skill.namespace);
  yield field("description", skill.description);
  yield field("license", skill.license);
  yield field("license files", licenseFiles.join(", "));
  yield field("compatibility", skill.compatibility);
  yield field("environment", sayEnvironment(environment));
  yield field("allowed tools", skill.allowedTools?.join(", "));
  for (const command of hostCommands) yield field("runs itself", quoted(command, { maxLength: 1_024 }));
  yield field("tags", skill.tags.join(", "));
  for (const [key, value] of Object.entries(skill.metadata)) yield field("metadata", `${key}: ${value}`);
  yield field("path", shownPath(skill.file, cwd));
  if (remote !== undefined) yield field("source", remote.label);
  else for (const source of sources) yield field("source", shownPath(source, cwd));
  if (versions.length > 1) yield field("versions", versions.map(({ version }) => version).join(", "));
  for (const [name, input] of Object.entries(skill.manifest?.inputs ?? {})) {
    yield field("input", `${name}: ${describeInput(input)}`);
  }
  const permissions = permissionWords(permissionsOf(skill));
  if (permissions.length > 0 || skill.kind === "action") yield field("permissions", permissions.join(", ") || "none");
  for (const called of calls) yield field("calls", `${called.skill} (${permissionWords(called).join(", ")})`);
  yield field("digest", hashed.digest);
  yield field("signature", signatureWords(signature));
  if (signature.state !== "unsigned") yield field("trusted root", trustedRoot);
  const width = files.reduce((widest, { path }) => Math.max(widest, path.length), 0);
  for (const { path, size_bytes: size } of files) yield field("file", `${padToWidth(path, width)}  ${size} bytes`);
  if (files.length < hashed.files.length) yield field("file", `… and ${hashed.files.length - files.length} more`);
  for (const { severity, code, file, line, column, message, fix } of problems) {
    yield field(severity, `${shownPath(file, cwd)}:${line}:${column} ${code}: ${message}. ${fix}`);
  }
  yield `\n${safeLines(readBody(skill)).trim()}\n`;
}

/** Describes an input: `integer, default 3, one of 1, 3. How many rows.` */
function describeInput({ type, required, default: fallback, enum: choices, description }: DeclaredArgument): string {
  const facts = [
    type,
    ...(required === true ? ["required"] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
    ...(choices === undefined ? [] : [`one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`]),
  ];
  return `${facts.join(", ")}${description === undefined ? "" : `. ${description}`}`;
}

/** Describes requirements: `missing: git; unknown: compatibility (stated in words, not checked)`. Undefined if there are none. */
export function sayEnvironment(matches: readonly Match[]): string | undefined {
  const summary = summarise(matches);
  if (summary === undefined) return undefined;
  const parts = (["missing", "unknown"] as const).flatMap((status) => {
    const names = matches
      .filter((match) => match.status === status)
      .map(({ requirement, evidence }) =>
        requirement.kind === "text" ? `${requirement.where.field} (${evidence})` : describeDemand(requirement),
      );
    return names.length === 0 ? [] : [`${status}: ${[...new Set(names)].join(", ")}`];
  });
  return parts.length === 0 ? "met" : parts.join("; ");
}
