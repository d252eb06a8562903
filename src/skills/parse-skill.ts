import { readAllowedTools } from "./allowed-tools.ts";
import { checkFields, checkName, maxCompatibilityLength, maxDescriptionLength } from "./check-frontmatter.ts";
import type { ValueFault } from "./check-frontmatter.ts";
import { countCodePoints, cutCodePoints } from "./code-points.ts";
import { decodeFrontmatter, findFrontmatter, isYaml } from "./frontmatter.ts";
import type { Manifest } from "./manifest.ts";
import { readMetadata } from "./metadata.ts";
import { toSlug } from "./names.ts";
import { rules } from "./rules.ts";
import type { Finding, RuleCode } from "./rules.ts";
import type { Skill } from "./skill.ts";
import { keyOffset, textPosition } from "./text-position.ts";
import { readYaml } from "./yaml.ts";

/** A SKILL.md as it was found. */
export interface SkillText {
  /** Absolute real path of the directory that holds it. */
  readonly directory: string;
  /** The directory name that the skill's name must match; for `<skill>/<version>/`, that of the skill. */
  readonly expectedName: string;
  /** Absolute path of SKILL.md, as the directory spells it. */
  readonly file: string;
  /** The file's first bytes; not kept. */
  readonly head: Uint8Array;
  /** True when `head` is the whole file. */
  readonly whole: boolean;
}

/** What was read from the `skill.toml` beside it: no manifest where it cannot be used. */
export interface ManifestReading {
  readonly manifest?: Manifest;
  readonly findings: readonly Finding[];
}

/** `skill` is undefined exactly when a finding is an error at level `lenient`. */
export interface ParsedSkill {
  readonly skill: Skill | undefined;
  readonly findings: readonly Finding[];
}

/** Frontmatter may be this long; a reader of heads reads at most so many bytes. */
export const maxFrontmatterBytes = 256 * 1024;

const noFindings: readonly Finding[] = [];
const noTags: readonly string[] = Object.freeze<string[]>([]);

/**
 * Text to skill: pure, never throws. A finding `frontmatter-too-long` means that `head` is not the whole file and does not
 * hold the closing fence: read more (up to {@link maxFrontmatterBytes}) and parse again.
 */
export function parseSkill(text: SkillText, manifest?: ManifestReading): ParsedSkill {
  const { values, source, findings } = readHead(text, manifest);
  const faults: ValueFault[] = [];
  const report = (fault: ValueFault): void => {
    faults.push(fault);
  };
  const skill =
    manifest === undefined
      ? values && readAgentSkill(text, values, report)
      : manifest.manifest && readProtocolSkill(text, values ?? {}, manifest.manifest, report);
  if (faults.length === 0 && findings.length === 0) return { skill, findings: noFindings };
  for (const { code, key, child, message, fix } of faults) {
    findings.push({ code, file: text.file, ...positionOf(source, keyOffset(source, key, child)), message, fix });
  }
  findings.sort((a, b) => (a.file === b.file ? a.line - b.line || a.column - b.column : 0));
  const offered = !findings.some(({ code }) => rules[code].lenient === "error");
  return { skill: offered ? skill : undefined, findings };
}

interface HeadReading {
  readonly values: Readonly<Record<string, unknown>> | undefined;
  /** The text between the fences. */
  readonly source: string;
  readonly findings: Finding[];
}

function readHead({ file, head, whole }: SkillText, manifest: ManifestReading | undefined): HeadReading {
  const findings: Finding[] = manifest === undefined ? [] : [...manifest.findings];
  const add = (code: RuleCode, message: string, fix: string, line = 1, column = 1): void => {
    findings.push({ code, file, line, column, message, fix });
  };
  const withoutValues = (code: RuleCode, message: string, fix: string, line?: number): HeadReading => {
    add(manifest?.manifest === undefined ? code : "manifest-frontmatter-missing", message, fix, line);
    return { values: undefined, source: "", findings };
  };
  if (file.endsWith("skill.md")) {
    add("file-name-lowercase", "the file is called skill.md", "Rename it to SKILL.md.");
  }
  const frontmatter = findFrontmatter(head, whole);
  if (frontmatter.kind === "incomplete") {
    add(
      "frontmatter-too-long",
      `the frontmatter does not end within the first ${head.length} bytes`,
      "Put a line --- after the last key, and long text below it.",
    );
    return { values: undefined, source: "", findings };
  }
  if (frontmatter.kind !== "found") return withoutValues(...notFound(frontmatter.kind, head));
  if (frontmatter.byteOrderMark) {
    add("byte-order-mark", "the file starts with a byte order mark", "Save it as UTF-8 without a byte order mark.");
  }
  if (!isYaml(frontmatter.language)) {
    return withoutValues(
      "frontmatter-language",
      `the opening fence asks for ${frontmatter.language}; frontmatter is YAML and never run`,
      "Write --- alone on the first line, and YAML below it.",
    );
  }
  const { text: source, valid } = decodeFrontmatter(head, frontmatter.start, frontmatter.end);
  if (!valid) {
    const { line, column } = positionOf(source, Math.max(source.indexOf("\ufffd"), 0));
    const message = "the frontmatter is not valid UTF-8; what cannot be read is replaced";
    add("invalid-utf8", message, "Save the file as UTF-8.", line, column);
  }
  const { values, faults } = readYaml(source);
  for (const { code, offset, message, fix } of faults) {
    if (code === "frontmatter-not-a-mapping") return withoutValues(code, message, fix, 2);
    const { line, column } = positionOf(source, offset);
    add(code, message, fix, line, column);
  }
  return { values, source, findings };
}

function notFound(kind: "missing" | "unclosed", head: Uint8Array): [code: RuleCode, message: string, fix: string] {
  switch (kind) {
    case "missing":
      return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
        ? ["frontmatter-missing", "the file is UTF-16, in which no frontmatter is found", "Save the file as UTF-8."]
        : [
            "frontmatter-missing",
            "the file does not start with a line ---",
            "Start the file with a line ---, then name: and description:, then another line ---.",
          ];
    case "unclosed":
      return [
        "frontmatter-unclosed",
        "the frontmatter that starts here is never closed",
        "Put a line --- after the last key.",
      ];
  }
}

/** The frontmatter starts on the file's second line. */
function positionOf(source: string, offset: number): { line: number; column: number } {
  const { line, column } = textPosition(source, offset);
  return { line: line + 1, column };
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
      message: "there is no name; that of the directory is used",
      fix: `Add name: ${toSlug(expectedName) ?? "my-skill"}.`,
    });
  } else {
    checkName(name, expectedName, report);
  }
  const slug = (name === undefined ? undefined : toSlug(name)) ?? toSlug(expectedName);
  if (slug === undefined) {
    report({
      code: "name-unusable",
      key: "name",
      message: "neither the name nor the directory has a letter a to z or a digit",
      fix: "Give it a name of the letters a to z, digits and hyphens.",
    });
  }
  const description = readDescription(values, report);
  const optional = readOptional(values, report);
  if (slug === undefined || description === undefined) return undefined;
  return Object.freeze({
    name: slug,
    slug,
    version: nonBlank(optional.metadata.version) ?? "0.0.0",
    kind: "instruction",
    namespace: slug,
    description,
    ...optional,
    tags: readTags(values.tags),
    dialect: "agent-skills",
    directory: text.directory,
    file: text.file,
  });
}

/** The manifest decides; the frontmatter adds what the manifest has no word for. */
function readProtocolSkill(text: SkillText, values: Values, manifest: Manifest, report: Report): Skill | undefined {
  const slug = toSlug(manifest.name);
  const description = cutCodePoints(manifest.description.trim(), maxDescriptionLength);
  if (slug === undefined || description === "") return undefined;
  return Object.freeze({
    name: manifest.name,
    slug,
    version: manifest.version,
    kind: manifest.kind,
    namespace: manifest.namespace ?? manifest.name.split(".", 1)[0] ?? manifest.name,
    description,
    ...readOptional(values, report),
    tags: manifest.tags === undefined ? readTags(values.tags) : Object.freeze([...manifest.tags]),
    dialect: "skills-protocol",
    directory: text.directory,
    file: text.file,
    manifest,
  });
}

function readDescription(values: Values, report: Report): string | undefined {
  const description = nonBlank(values.description);
  if (description === undefined) {
    report({
      code: "description-missing",
      key: "description",
      message: "there is no description",
      fix: "Add description: with what the skill does and when to use it.",
    });
    return undefined;
  }
  if (description.length <= maxDescriptionLength) return description;
  const length = countCodePoints(description);
  if (length > maxDescriptionLength) {
    report({
      code: "description-too-long",
      key: "description",
      message: `the description has ${length} characters, at most ${maxDescriptionLength} count`,
      fix: "Shorten it, and move the rest below the frontmatter.",
    });
  }
  return cutCodePoints(description, maxDescriptionLength);
}

function readOptional(
  values: Values,
  report: Report,
): Pick<Skill, "metadata"> & Partial<Pick<Skill, "license" | "compatibility" | "allowedTools">> {
  const license = nonBlank(values.license);
  if (license === undefined && isPresent(values.license)) {
    report({
      code: "license-not-a-string",
      key: "license",
      message: "the license is not a string; it is left out",
      fix: "Write the license's name or the name of its file.",
    });
  }
  const compatibility = nonBlank(values.compatibility);
  if (compatibility === undefined && isPresent(values.compatibility)) {
    report({
      code: "compatibility-not-a-string",
      key: "compatibility",
      message: "compatibility is not a string; it is left out",
      fix: "Write it as one sentence.",
    });
  } else if (compatibility !== undefined && compatibility.length > maxCompatibilityLength) {
    const length = countCodePoints(compatibility);
    if (length > maxCompatibilityLength) {
      report({
        code: "compatibility-too-long",
        key: "compatibility",
        message: `compatibility has ${length} characters, at most ${maxCompatibilityLength} count`,
        fix: "Shorten it, and move the rest below the frontmatter.",
      });
    }
  }
  const tools = values["allowed-tools"];
  const allowedTools = tools === undefined ? undefined : readAllowedTools(tools);
  if (tools !== undefined && allowedTools === undefined) {
    report({
      code: "allowed-tools-invalid",
      key: "allowed-tools",
      message: "allowed-tools is neither a string nor a list of strings; it is left out",
      fix: "Write allowed-tools as names separated by blanks, or as a list of names.",
    });
  }
  return {
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility: cutCodePoints(compatibility, maxCompatibilityLength) }),
    ...(allowedTools !== undefined && { allowedTools: Object.freeze(allowedTools) }),
    metadata: readMetadata(values.metadata, report),
  };
}

function readTags(value: unknown): readonly string[] {
  const tags = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : noTags;
  if (tags.length === 0) return noTags;
  return Object.freeze(
    tags
      .filter((tag): tag is string => typeof tag === "string")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  );
}

function isPresent(value: unknown): boolean {
  return value !== undefined && typeof value !== "string";
}

function nonBlank(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.trim() || undefined;
}
