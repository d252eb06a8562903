import { checkFields, checkName, maxDescriptionLength } from "../rules/check-frontmatter.ts";
import type { ValueFault } from "../rules/check-frontmatter.ts";
import { cutCodePoints } from "../text/code-points.ts";
import { fitFaults } from "../rules/fit-faults.ts";
import { openKeyRanges } from "../text/key-ranges.ts";
import { toTextRange } from "../text/text-positions.ts";
import type { Manifest } from "./manifest.ts";
import { readMetadata } from "./metadata.ts";
import { readMetadataPermissions } from "./metadata-permissions.ts";
import { toSlug } from "../names.ts";
import { readHead } from "./read-head.ts";
import { rules } from "../rules/rules.ts";
import type { Finding } from "../rules/rules.ts";
import { cleanFields, nonBlank, readDescription, readOptional, readTags } from "./skill-fields.ts";
import type { OptionalFields } from "./skill-fields.ts";
import type { Skill } from "../skill.ts";

/** A SKILL.md as found on disk. */
export interface SkillText {
  /** Absolute real path of its directory. */
  readonly directory: string;
  /** The directory name that the name of the skill must match; for `<skill>/<version>/`, `<skill>`. */
  readonly expectedName: string;
  /** Absolute path of SKILL.md, in the spelling of the directory entry. */
  readonly file: string;
  /** The first bytes of the file; not retained. */
  readonly head: Uint8Array;
  /** Whether `head` is the whole file. */
  readonly whole: boolean;
}

/** The result of reading the `skill.toml` in the same directory, without a manifest if it is invalid. */
export interface ManifestReading {
  readonly manifest?: Manifest;
  /** Whether the file is not a Skills Protocol manifest, so that only SKILL.md counts. */
  readonly isForeign?: true;
  readonly findings: readonly Finding[];
}

/** `skill` is undefined if and only if a finding is an error at level `lenient`. */
export interface ParsedSkill {
  readonly skill: Skill | undefined;
  readonly findings: readonly Finding[];
}

/** Maximum length of frontmatter, and therefore of the head of a file that is read. */
export const maxFrontmatterBytes = 256 * 1024;

const noFindings: readonly Finding[] = [];

/**
 * Parses a SKILL.md. Pure; never throws. A finding `frontmatter-too-long` means that `head` is not the whole file and does not
 * contain the closing fence: read more, up to {@link maxFrontmatterBytes}, and parse again.
 */
export function parseSkill(text: SkillText, manifest?: ManifestReading): ParsedSkill {
  const { values: found, isClean, source, positionOf, findings } = readHead(text, manifest);
  const faults: ValueFault[] = [];
  const report = (fault: ValueFault): void => {
    faults.push(fault);
  };
  const values = isClean ? found : found && cleanFields(found, report);
  const skill =
    manifest === undefined || manifest.isForeign
      ? values && readAgentSkill(text, values, report)
      : manifest.manifest && readProtocolSkill(text, values ?? {}, manifest.manifest, report);
  if (faults.length === 0 && findings.length === 0) return { skill, findings: noFindings };
  const rangeOf = openKeyRanges(source);
  for (const { code, key, child, part = "value", sought, message, fix, allowedAt } of fitFaults(faults)) {
    let { offset, end } = rangeOf(key, part, child);
    const found = sought === undefined ? -1 : source.indexOf(sought, offset);
    if (found >= 0) [offset, end] = [found, found + (sought ?? "").length];
    const range = toTextRange(positionOf, offset, end);
    findings.push({ code, file: text.file, message, fix, allowedAt, ...range });
  }
  findings.sort(byPlace);
  const offered = !findings.some(({ code }) => rules[code].lenient === "error");
  return { skill: offered ? skill : undefined, findings: withoutConsequences(findings) };
}

/** Reports one problem per mistake: a value that is ignored, or has a wrong key, need not be strict YAML as well. */
function withoutConsequences(findings: readonly Finding[]): readonly Finding[] {
  const strict = findings.filter(({ code }) => code === "yaml-not-strict");
  if (strict.length === 0) return findings;
  const others = findings.filter(({ code }) => code === "field-unexpected" || code === "metadata-nested-value");
  const kept = strict.find(({ line }) => others.every((other) => other.line !== line));
  return findings.filter((finding) => finding.code !== "yaml-not-strict" || finding === kept);
}

function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

type Values = Readonly<Record<string, unknown>>;
type Report = (fault: ValueFault) => void;

function readAgentSkill(text: SkillText, values: Values, report: Report): Skill | undefined {
  const { expectedName } = text;
  checkFields(values, report);
  const name = nonBlank(values.name);
  if (name === undefined) {
    report({
      code: "name-missing",
      key: "name",
      message: "name is missing; the directory's name is used",
      fix: `Add \`name: ${toSlug(expectedName) ?? "my-skill"}\`.`,
    });
  } else {
    checkName(name, expectedName, report);
  }
  const slug = (name === undefined ? undefined : toSlug(name)) ?? toSlug(expectedName);
  if (slug === undefined) {
    report({
      code: "name-unusable",
      key: "name",
      message: "no slug: neither the name nor the directory contains a-z or a digit",
      fix: "Use a name of the letters a-z, digits and hyphens.",
    });
  }
  const description = readDescription(values, report);
  const optional = readOptional(values, report);
  const metadata = readMetadata(values.metadata, report);
  readMetadataPermissions(metadata, report);
  if (slug === undefined || description === undefined) return undefined;
  const skill: Skill = {
    name: slug,
    slug,
    version: nonBlank(metadata.version) ?? "0.0.0",
    kind: "instruction",
    namespace: slug,
    description,
    tags: readTags(values.tags),
    metadata,
    dialect: "agent-skills",
    directory: text.directory,
    file: text.file,
  };
  return completed(skill, optional);
}

/** Manifest fields take precedence; frontmatter adds the fields that a manifest does not have. */
function readProtocolSkill(text: SkillText, values: Values, manifest: Manifest, report: Report): Skill | undefined {
  const slug = toSlug(manifest.name);
  const description = cutCodePoints(manifest.description.trim(), maxDescriptionLength);
  if (slug === undefined || description === "") return undefined;
  const optional = readOptional(values, report);
  const skill: Skill = {
    name: manifest.name,
    slug,
    version: manifest.version,
    kind: manifest.kind,
    namespace: manifest.namespace ?? manifest.name.split(".", 1)[0] ?? manifest.name,
    description,
    tags: manifest.tags === undefined ? readTags(values.tags) : Object.freeze([...manifest.tags]),
    metadata: readMetadata(values.metadata, report),
    dialect: "skills-protocol",
    directory: text.directory,
    file: text.file,
    manifest,
  };
  return completed(skill, optional);
}

function completed(skill: Skill, optional: OptionalFields): Skill {
  return Object.freeze(Object.assign(skill, optional));
}
