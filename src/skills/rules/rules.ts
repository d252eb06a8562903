import type { Problem } from "./problem.ts";

/** `spec`: the Agent Skills specification; `wire`: what AvailableSkill demands (C-1.3); `lenient`: what is offered (C-1.5). */
export type Level = "spec" | "wire" | "lenient";

export interface Rule {
  readonly title: string;
  readonly spec: Problem["severity"] | "off";
  readonly wire: Problem["severity"] | "off";
  /** An error means: not offered. A warning means: offered, normalised. A note is nothing to mend. */
  readonly lenient: Problem["severity"] | "off";
}

const always = { spec: "error", wire: "error", lenient: "error" } as const;
const style = { spec: "error", wire: "off", lenient: "warning" } as const;
const normalised = { spec: "error", wire: "error", lenient: "warning" } as const;
const remark = { spec: "warning", wire: "warning", lenient: "warning" } as const;
const note = { spec: "note", wire: "note", lenient: "note" } as const;
const advice = { spec: "warning", wire: "off", lenient: "off" } as const;

/** Every rule there is, by its stable code. */
export const rules = {
  "file-name-lowercase": { title: "the file is called SKILL.md", ...remark },
  "file-name-case": { title: "SKILL.md is written in capitals", ...style },
  "byte-order-mark": { title: "the file starts without a byte order mark", ...style, wire: "warning" },
  "invalid-utf8": { title: "frontmatter and skill.toml are valid UTF-8", ...normalised },
  "frontmatter-missing": { title: "SKILL.md starts with frontmatter", ...always },
  "frontmatter-unclosed": { title: "frontmatter is closed by a line ---", ...always },
  "frontmatter-too-long": { title: "frontmatter is short enough to be read", ...always },
  "frontmatter-language": { title: "frontmatter is YAML, never code", ...always },
  "frontmatter-not-a-mapping": { title: "frontmatter is a mapping of keys to values", ...always },
  "yaml-syntax": { title: "frontmatter is valid YAML", ...normalised },
  "yaml-duplicate-key": { title: "a key appears once", ...normalised },
  "yaml-unquoted-colon": { title: "a value that contains a colon and a blank is quoted", ...normalised },
  "yaml-comment-in-value": { title: "no comment cuts an unquoted value short", ...remark },
  "yaml-tag": { title: "frontmatter has no YAML tags", ...normalised },
  "yaml-alias-bomb": { title: "frontmatter has few YAML aliases, in no circle", ...normalised },
  "yaml-not-strict": { title: "frontmatter has no flow collections, anchors or aliases", ...advice },
  "name-missing": { title: "there is a name", ...normalised },
  "name-unusable": { title: "a slug can be made from the name or the directory", ...always, spec: "off" },
  "name-too-long": { title: "the name has at most 64 characters", ...normalised },
  "name-not-lowercase": { title: "the name is lowercase", ...normalised },
  "name-invalid-characters": { title: "the name has only letters, digits and hyphens", ...normalised },
  "name-hyphens": { title: "hyphens stand alone and inside the name", ...normalised },
  "name-not-ascii": {
    title: "the name has only letters a to z and digits",
    spec: "off",
    wire: "error",
    lenient: "warning",
  },
  "name-directory-mismatch": { title: "the name is that of the directory", ...style },
  "description-missing": { title: "there is a description", ...always },
  "description-too-long": { title: "the description has at most 1024 characters", ...normalised },
  "license-not-a-string": { title: "the license is a string", spec: "warning", wire: "error", lenient: "warning" },
  "license-too-long": { title: "the license has at most 500 characters", ...remark },
  "compatibility-too-long": { title: "compatibility has at most 500 characters", ...normalised },
  "compatibility-not-a-string": { title: "compatibility is a string", ...normalised },
  "allowed-tools-invalid": { title: "allowed-tools is a string or a list of strings", ...normalised },
  "allowed-tools-too-long": { title: "allowed-tools has at most 128 tools of 256 characters", ...remark },
  "metadata-not-a-mapping": { title: "metadata is a mapping", ...remark },
  "metadata-nested-value": { title: "metadata values are strings", ...remark },
  "metadata-too-long": { title: "metadata has at most 64 entries of 2,048 characters", ...remark },
  "metadata-permission-invalid": { title: "permissions in metadata have their shape", ...remark },
  "control-characters": { title: "text has no control or direction-changing characters", ...remark },
  "invisible-characters": { title: "text has no characters that cannot be seen", ...remark },
  "field-unexpected": { title: "only the specification's fields are used", ...style },
  "manifest-unreadable": { title: "skill.toml can be read", ...always },
  "manifest-foreign": { title: "skill.toml is one of the Skills Protocol", ...remark },
  "manifest-syntax": { title: "skill.toml is valid TOML", ...always },
  "manifest-field-missing": { title: "skill.toml has every required key", ...always },
  "manifest-field-invalid": { title: "every value in skill.toml has its shape", ...always },
  "manifest-runtime-missing": { title: "an action has a runtime", ...always },
  "manifest-runtime-refused": { title: "an instruction has no runtime", ...always },
  "manifest-entrypoint-outside": { title: "the entrypoint stays inside the skill", ...always },
  "manifest-entrypoint-missing": { title: "the entrypoint is there", ...style },
  "manifest-namespace-mismatch": { title: "the namespace is a dotted prefix of the name", ...always },
  "manifest-network-invalid": { title: "network entries have the shape https://host", ...always },
  "manifest-secret-invalid": { title: "secrets are names such as API_KEY", ...always },
  "manifest-default-invalid": { title: "defaults are of their type, and among their enum", ...normalised },
  "manifest-dependency-invalid": { title: "dependencies have the shape a.b@^1", ...always },
  "manifest-name-too-long": { title: "the slug of the manifest's name has at most 64 characters", ...always },
  "manifest-tags-too-many": { title: "skill.toml has at most 20 tags", ...normalised },
  "manifest-key-unknown": { title: "only known keys are used in skill.toml", ...remark },
  "manifest-frontmatter-missing": { title: "SKILL.md beside skill.toml has readable frontmatter", ...style },
  unreadable: { title: "files and directories can be read", ...always },
  "not-a-regular-file": { title: "SKILL.md is a regular file", ...always },
  "dangling-symlink": { title: "links lead somewhere", ...always },
  "directory-loop": { title: "links do not lead back to a directory above", ...remark },
  "skill-shadowed": { title: "a name appears in one root only", ...remark },
  "slug-qualified": { title: "a name appears once in a root", ...remark },
  "skill-copy": { title: "a skill lies in one place", ...note },
  "slug-collision": { title: "a version of a skill appears once", ...always },
  "skill-file-unused": { title: "SKILL.md lies beside no other spelling of its name", ...always },
  "skill-file-misnamed": { title: "no skill is in a file such as SKILLS.md", ...always },
  "manifest-alone": { title: "skill.toml lies beside a SKILL.md", ...always },
  "skill-ignored": { title: "no skill lies in a directory that .gitignore ignores", ...always },
  "ignored-unsearched": { title: "ignored directories are few enough to look for skills in", ...remark },
  "too-deep": { title: "skills lie at most 12 directories deep", ...always },
  "not-read-in-time": { title: "a root is read within 20 seconds", ...always },
  "ignore-pattern-excessive": { title: "patterns in ignore files are few and short enough to be applied", ...remark },
  "too-many-directories": { title: "a root has at most 20,000 directories", ...always },
} as const satisfies Record<string, Rule>;

export type RuleCode = keyof typeof rules;

/** A rule that a file breaks, and where; how bad that is depends on the level. */
export interface Finding {
  readonly code: RuleCode;
  readonly file: string;
  /** From 1, in the file. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  readonly message: string;
  readonly fix: string;
  /** How many skills are not read because of it, where that is known. */
  readonly leftOut?: number;
}

/** The findings that count at a level, with their severity, in the order given. */
export function toProblems(findings: readonly Finding[], level: Level): Problem[] {
  const problems: Problem[] = [];
  for (const { code, file, line, column, message, fix } of findings) {
    const severity = rules[code][level];
    if (severity !== "off") problems.push({ code, severity, file, line, column, message, fix });
  }
  // A list grown by push has room for more; these are kept by the thousand.
  return problems.slice();
}
