import type { TextRange } from "../../base/failures/file-problem.ts";
import { type ValueFault, checkFields, checkName, maxDescriptionLength } from "./check-document.ts";
import { type Finding, type RuleCode, fitFaults, rules } from "../rules.ts";
import { type Skill, toSlug } from "../skill.ts";
import { cutCodePoints, inDigits } from "../../base/text/code-points.ts";
import { withoutControls, hasInvisible } from "../../base/text/unsafe-characters.ts";
import { decodeFrontmatter, findFrontmatter, isYaml, rememberSource } from "./frontmatter.ts";
import { createTextPositions, toTextRange } from "../../base/text/text-positions.ts";
import { createKeyRanges } from "./yaml/yaml-keys.ts";
import { readYaml } from "./yaml.ts";
import type { Manifest } from "./manifest-schema.ts";
import { readMetadataPermissions } from "../permissions.ts";
import { cleanFields, nonBlank, readDescription, readMetadata, readOptional, readTags } from "./skill-fields.ts";

/** A SKILL.md on disk. */
export interface SkillText {
  /** The absolute real path of the skill's directory. */
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

const noFindings: readonly Finding[] = [];

/**
 * Parses a SKILL.md. Pure; never throws. A finding `frontmatter-too-long` means that `head` is not the whole file and does not contain the
 * closing fence. Then read more, up to `maxFrontmatterBytes`, and parse again.
 */
export function parseSkill(text: SkillText, manifest?: ManifestReading): ParsedSkill {
  const { values: found, isClean, source, rangeOf, lost, findings } = readHead(text, manifest);
  const faults: ValueFault[] = [];
  const report = (fault: ValueFault): void => void faults.push(fault);
  const values = isClean ? found : found && cleanFields(found, report);
  const skill =
    manifest === undefined || manifest.isForeign
      ? values && readAgentSkill(text, values, report)
      : manifest.manifest && readProtocolSkill(text, values ?? {}, manifest.manifest, report);
  if (skill !== undefined && manifest === undefined) rememberSource(skill, source);
  if (faults.length === 0 && findings.length === 0) return { skill, findings: noFindings };
  const keyRange = createKeyRanges(source);
  for (const { code, key, child, part = "value", sought, message, fix, allowedAt } of fitFaults(faults)) {
    const cause = code === "name-missing" || code === "description-missing" ? lost.get(key) : undefined;
    if (cause !== undefined) {
      // A missing name is replaced by the directory's name, so the cause says enough.
      if (code === "name-missing") continue;
      const unread = { ...cause, code, message: `description cannot be read: ${cause.message}` };
      findings[findings.indexOf(cause)] = unread;
      lost.set(key, unread);
      continue;
    }
    let { offset, end } = keyRange(key, part, child);
    const index = sought === undefined ? -1 : source.indexOf(sought, offset);
    if (index >= 0) [offset, end] = [index, index + (sought ?? "").length];
    findings.push({ code, file: text.file, message, fix, allowedAt, ...rangeOf(offset, end) });
  }
  findings.sort(byPosition);
  const offered = !findings.some(({ code }) => rules[code].lenient === "error");
  return { skill: offered ? skill : undefined, findings: withoutConsequences(findings, [...lost.values()]) };
}

/** Rules about a value that is not used. */
const unused: ReadonlySet<RuleCode> = new Set<RuleCode>([
  "field-unexpected",
  "metadata-nested-value",
  "name-missing",
  "description-missing",
  "license-not-a-string",
  "compatibility-not-a-string",
  "allowed-tools-invalid",
]);

/** Reports one problem per mistake: an unused value need not be strict YAML as well. */
function withoutConsequences(findings: readonly Finding[], lost: readonly Finding[]): readonly Finding[] {
  const strict = findings.filter(({ code }) => code === "yaml-not-strict");
  if (strict.length === 0) return findings;
  const isUnused = (finding: Finding): boolean =>
    lost.includes(finding) || (finding.endLine !== undefined && unused.has(finding.code));
  const lines = new Set(findings.filter(isUnused).map(({ line }) => line));
  const first = strict.find(({ line }) => !lines.has(line));
  return findings.filter((finding) => finding.code !== "yaml-not-strict" || finding === first);
}

function byPosition(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

type Values = Readonly<Record<string, unknown>>;
type Report = (fault: ValueFault) => void;

/** The unvalidated frontmatter values of the head of a SKILL.md. */
interface HeadReading {
  /** Undefined if there is no readable frontmatter. */
  readonly values: Values | undefined;
  /** True only if the values contain no control characters. */
  readonly isClean: boolean;
  /** The text between the fences. */
  readonly source: string;
  /** Converts offsets of `source` to positions in the file. */
  readonly rangeOf: (offset: number, end?: number) => TextRange;
  /** Why top-level keys have no value although they are present. */
  readonly lost: Map<string, Finding>;
  readonly findings: Finding[];
}

/** The line of a file on which the text between the fences starts. */
const sourceLine = 2;

/** Reads the frontmatter of a head. With a valid manifest, missing frontmatter is reported under a less severe rule. */
function readHead({ file, head, whole }: SkillText, manifest: ManifestReading | undefined): HeadReading {
  const findings: Finding[] = manifest === undefined ? [] : [...manifest.findings];
  const lost = new Map<string, Finding>();
  const add = (code: RuleCode, message: string, fix: string, range: TextRange = { line: 1, column: 1 }): void =>
    void findings.push({ code, file, ...range, message, fix });
  const withoutValues = (code: RuleCode, message: string, fix: string, range?: TextRange): HeadReading => {
    const isExtra = manifest?.manifest !== undefined && code !== "frontmatter-too-long";
    add(isExtra ? "manifest-frontmatter-missing" : code, message, fix, range);
    const rangeOf = (): TextRange => ({ line: sourceLine, column: 1 });
    return { values: undefined, isClean: true, source: "", rangeOf, lost, findings };
  };
  const name = file.slice(-"SKILL.md".length);
  if (name !== "SKILL.md") {
    const code = name === "skill.md" ? "file-name-lowercase" : "file-name-case";
    add(code, `file is named ${name}, which many agents do not find`, "Rename it to SKILL.md.");
  }
  const frontmatter = findFrontmatter(head, whole);
  if (frontmatter.kind !== "found") return withoutValues(...notFound(frontmatter.kind, head));
  if (frontmatter.byteOrderMark) {
    const line = head[0] === 0xef ? 1 : 2;
    const fix = "Save the file as UTF-8 without a byte order mark.";
    add("byte-order-mark", "byte order mark before the frontmatter", fix, { line, column: 1 });
  }
  if (!isYaml(frontmatter.language)) {
    const message = `frontmatter language \`${withoutControls(frontmatter.language)}\` is not supported; only YAML is`;
    return withoutValues("frontmatter-language", message, "Write `---` alone on the first line, and YAML below it.");
  }
  const { text: source, valid } = decodeFrontmatter(head, frontmatter.start, frontmatter.end);
  let positionOf: ReturnType<typeof createTextPositions> | undefined;
  const rangeOf = (offset: number, end?: number): TextRange =>
    toTextRange((positionOf ??= createTextPositions(source, sourceLine)), offset, end);
  if (!valid) {
    const message = "invalid UTF-8 in the frontmatter; it is replaced by U+FFFD";
    add("invalid-utf8", message, "Save the file as UTF-8.", rangeOf(Math.max(source.indexOf("\ufffd"), 0)));
  }
  const { values, faults, isClean } = readYaml(source);
  for (const { code, offset, end, message, fix, lost: key } of fitFaults(faults)) {
    if (code === "frontmatter-not-a-mapping") return withoutValues(code, message, fix, { line: 2, column: 1 });
    const finding: Finding = { code, file, ...rangeOf(offset, end), message, fix };
    findings.push(finding);
    if (key !== undefined) lost.set(key, finding);
  }
  // Non-ASCII characters take more bytes than UTF-16 code units; U+FFFD, the replacement for invalid bytes, is visible.
  const isAscii = source.length === frontmatter.end - frontmatter.start;
  return { values, isClean: isClean && (isAscii || !hasInvisible(source)), source, rangeOf, lost, findings };
}

function notFound(
  kind: "missing" | "unclosed" | "incomplete",
  head: Uint8Array,
): [code: RuleCode, message: string, fix: string] {
  const close = "Add a line `---` after the last key";
  if (kind === "unclosed") return ["frontmatter-unclosed", "frontmatter has no closing line `---`", `${close}.`];
  if (kind === "incomplete") {
    const message = `frontmatter has no closing \`---\` within the first ${inDigits(head.length)} bytes`;
    return ["frontmatter-too-long", message, `${close}, and move long text below it.`];
  }
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (isUtf16) return ["frontmatter-missing", "file is UTF-16, not UTF-8", "Save the file as UTF-8."];
  const fix = "Start the file with a line `---`, then `name:` and `description:`, then another line `---`.";
  return ["frontmatter-missing", "file does not start with a line `---`", fix];
}

function readAgentSkill(text: SkillText, values: Values, report: Report): Skill | undefined {
  const { expectedName } = text;
  checkFields(values, report);
  const name = nonBlank(values.name);
  const slug = (name === undefined ? undefined : toSlug(name)) ?? toSlug(expectedName);
  if (name === undefined) {
    const fix = `Add \`name: ${slug ?? "my-skill"}\`.`;
    report({ code: "name-missing", key: "name", message: "name is missing; the directory's name is used", fix });
  } else {
    checkName(name, expectedName, report);
  }
  if (slug === undefined) {
    const message = "no slug: neither the name nor the directory contains a-z or a digit";
    report({ code: "name-unusable", key: "name", message, fix: "Use a name of the letters a-z, digits and hyphens." });
  }
  const description = readDescription(values, report);
  const optional = readOptional(values, report);
  const metadata = readMetadata(values.metadata, report);
  if (Object.keys(metadata).some((key) => key.startsWith("acp-skills-"))) readMetadataPermissions(metadata, report);
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
  return Object.freeze(Object.assign(skill, optional));
}

/** Reads a skill with a manifest. Manifest fields take precedence; frontmatter adds the fields that a manifest does not have. */
function readProtocolSkill(text: SkillText, values: Values, manifest: Manifest, report: Report): Skill | undefined {
  const slug = toSlug(manifest.name);
  const description = cutCodePoints(manifest.description.trim(), maxDescriptionLength);
  if (slug === undefined || description === "") return undefined;
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
  return Object.freeze(Object.assign(skill, readOptional(values, report)));
}
