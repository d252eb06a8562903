import type { FileFault } from "../base/failures/file-problem.ts";
import { byCodePoint, cutCodePoints } from "../base/text/code-points.ts";
import { hasControls, withoutControls } from "../base/text/unsafe-characters.ts";
import type { Problem } from "./rules/problem.ts";

export type { Problem } from "./rules/problem.ts";

export const levels = ["agents", "spec", "wire", "lenient"] as const;
/**
 * The set of rules that apply. `agents`: the Agent Skills specification with the fields that agents document beside it; `spec`: the
 * specification alone; `wire`: the requirements of AvailableSkill; `lenient`: the rules for offering a skill.
 */
export type Level = (typeof levels)[number];

export interface Rule {
  readonly title: string;
  /** Default: the severity at `spec`. */
  readonly agents?: Problem["severity"] | "off";
  readonly spec: Problem["severity"] | "off";
  readonly wire: Problem["severity"] | "off";
  /** For an error, the skill is not offered. For a warning, it is offered with normalised values. A note needs no action. */
  readonly lenient: Problem["severity"] | "off";
}

/** Severities that override those of a level. */
export type RuleSettings = Readonly<Partial<Record<RuleCode, "off" | "warning" | "error">>>;

const always = { spec: "error", wire: "error", lenient: "error" } as const;
const style = { spec: "error", wire: "off", lenient: "warning" } as const;
const normalised = { spec: "error", wire: "error", lenient: "warning" } as const;
const remark = { spec: "warning", wire: "warning", lenient: "warning" } as const;
const note = { spec: "note", wire: "note", lenient: "note" } as const;
const advice = { agents: "off", spec: "warning", wire: "off", lenient: "off" } as const;

/** All rules by their stable codes. */
export const rules = {
  "file-name-lowercase": { title: "file name is SKILL.md, not skill.md", ...remark },
  "file-name-case": { title: "SKILL.md is spelled in capitals", ...style },
  "byte-order-mark": { title: "no byte order mark", ...style, wire: "warning" },
  "invalid-utf8": { title: "SKILL.md and skill.toml are valid UTF-8", ...normalised },
  "frontmatter-missing": { title: "SKILL.md starts with frontmatter", ...always },
  "frontmatter-unclosed": { title: "frontmatter ends with a line `---`", ...always },
  "frontmatter-too-long": { title: "frontmatter is at most 256 KiB long", ...always },
  "frontmatter-language": { title: "frontmatter is YAML, never code", ...always },
  "frontmatter-not-a-mapping": { title: "frontmatter is a mapping of keys to values", ...always },
  "yaml-syntax": { title: "frontmatter is valid YAML", ...normalised },
  "yaml-duplicate-key": { title: "no duplicate keys", ...normalised },
  "yaml-unquoted-colon": { title: "values that contain `: ` are quoted", ...normalised },
  "yaml-comment-in-value": { title: "no comment cuts an unquoted value short", ...remark },
  "yaml-tag": { title: "no YAML tags", ...normalised },
  "yaml-alias-bomb": { title: "at most 10 YAML aliases, none recursive", ...normalised },
  "yaml-not-strict": { title: "no flow collections, anchors or aliases", ...advice },
  "name-missing": { title: "there is a name", ...normalised },
  "name-unusable": { title: "a slug can be made from the name or the directory", ...always, spec: "off" },
  "name-too-long": { title: "name is at most 64 characters long", ...normalised },
  "name-not-lowercase": { title: "name is lowercase", ...normalised },
  "name-invalid-characters": { title: "name consists of letters, digits and hyphens", ...normalised },
  "name-hyphens": { title: "no leading, trailing or doubled hyphens in the name", ...normalised },
  "name-not-ascii": { title: "letters of the name are a-z", ...normalised, spec: "off" },
  "name-directory-mismatch": { title: "name matches its directory", ...style },
  "description-missing": { title: "there is a description", ...always },
  "description-too-long": { title: "description is at most 1,024 characters long", ...normalised },
  "license-not-a-string": { title: "license is a string", spec: "warning", wire: "error", lenient: "warning" },
  "license-too-long": { title: "license is at most 500 characters long", ...remark },
  "compatibility-too-long": { title: "compatibility is at most 500 characters long", ...normalised },
  "compatibility-not-a-string": { title: "compatibility is a string", ...normalised },
  "allowed-tools-invalid": { title: "allowed-tools is a string or a list of strings", ...normalised },
  "allowed-tools-too-long": { title: "at most 128 allowed tools of 256 characters", ...remark },
  "metadata-not-a-mapping": { title: "metadata is a mapping", ...remark },
  "metadata-nested-value": { title: "metadata values are strings", ...remark },
  "metadata-too-long": { title: "at most 64 metadata entries of 2,048 characters", ...remark },
  "metadata-permission-invalid": { title: "permissions in metadata are valid", ...remark },
  "evals-invalid": {
    title: "evals/evals.json has cases for `eval`",
    agents: "warning",
    spec: "off",
    wire: "off",
    lenient: "off",
  },
  "dynamic-command": { title: "no command that agents run before the model reads the skill", ...remark },
  "isolation-none": { title: "code runs in the sandbox", ...remark },
  "control-characters": { title: "no control or bidirectional formatting characters", ...remark },
  "invisible-characters": { title: "no invisible characters", ...remark },
  "field-unexpected": { title: "only standard fields at the top level", ...style, agents: "warning" },
  "field-not-boolean": {
    title: "disable-model-invocation and user-invocable are true or false",
    ...remark,
    wire: "off",
  },
  "manifest-unreadable": { title: "skill.toml can be read", ...always },
  "manifest-foreign": { title: "skill.toml is a Skills Protocol manifest", ...remark },
  "manifest-syntax": { title: "skill.toml is valid TOML", ...always },
  "manifest-field-missing": { title: "skill.toml has every required key", ...always },
  "manifest-field-invalid": { title: "values in skill.toml are valid", ...always },
  "manifest-runtime-missing": { title: "an action has a [runtime] or [remote]", ...always },
  "manifest-runtime-refused": { title: "one of [runtime] and [remote], an instruction none", ...always },
  "manifest-entrypoint-outside": { title: "entrypoint is inside the skill", ...always },
  "manifest-entrypoint-missing": { title: "entrypoint exists", ...style },
  "manifest-namespace-mismatch": { title: "namespace is a dotted prefix of the name", ...always },
  "manifest-network-invalid": { title: "network entries have the form https://host", ...always },
  "manifest-secret-invalid": { title: "secret names have the form API_KEY", ...always },
  "manifest-secret-host-invalid": { title: "secrets are sent to exact hosts only", ...always },
  "manifest-secret-header-invalid": { title: "secrets are sent in a header for credentials", ...always },
  "manifest-default-invalid": { title: "default values match type and enum", ...normalised },
  "manifest-dependency-invalid": { title: "dependencies have the form a.b@^1", ...always },
  "manifest-name-too-long": { title: "name in skill.toml is at most 64 characters long", ...always },
  "manifest-tags-too-many": { title: "at most 20 tags in skill.toml", ...normalised },
  "manifest-key-unknown": { title: "only known keys in skill.toml", ...remark },
  "manifest-frontmatter-missing": { title: "SKILL.md beside skill.toml has readable frontmatter", ...style },
  unreadable: { title: "files and directories can be read", ...always },
  "not-a-regular-file": { title: "SKILL.md is a regular file", ...always },
  "file-name-invalid": { title: "names of files are UTF-8 on one line, without backslashes", ...always },
  "dangling-symlink": { title: "symbolic links have a target", ...always },
  "directory-loop": { title: "no symbolic link to a parent directory", ...remark },
  "skill-shadowed": { title: "name is unique across roots", ...remark },
  "slug-qualified": { title: "name is unique within a root", ...remark },
  "skill-copy": { title: "skill exists once", ...note },
  "slug-collision": { title: "each version of a skill exists once", ...always },
  "skill-file-unused": { title: "one spelling of SKILL.md per directory", ...always },
  "skill-file-misnamed": { title: "no skill in a file such as SKILLS.md", ...always },
  "manifest-alone": { title: "skill.toml has a SKILL.md beside it", ...always },
  "skill-ignored": { title: "no skill in a directory that .gitignore excludes", ...always },
  "ignored-unsearched": { title: "few enough ignored directories to search for skills", ...remark },
  "too-deep": { title: "skills are at most 12 directories deep", ...always },
  "not-read-in-time": { title: "a root is read within 20 seconds", ...always },
  "ignore-pattern-excessive": { title: "ignore patterns are within limits", ...remark },
  "too-many-directories": { title: "at most 20,000 directories in a root", ...always },
} as const satisfies Record<string, Rule>;

export type RuleCode = keyof typeof rules;

export function isRule(code: unknown): code is RuleCode {
  return typeof code === "string" && Object.hasOwn(rules, code);
}

/** A rule violation with its position in a file. Its severity depends on the level. */
export interface Finding extends FileFault<RuleCode> {
  /** The levels at which the finding is allowed. */
  readonly allowedAt?: readonly Level[] | undefined;
  /** The number of skills that are not read because of the finding, if known. */
  readonly leftOut?: number;
}

/** The findings that are not off at a level, with their severity, in the given order. */
export function toProblems(findings: readonly Finding[], level: Level, settings: RuleSettings = {}): Problem[] {
  const problems: Problem[] = [];
  for (const { code, file, line, column, endLine, endColumn, message, fix, allowedAt } of findings) {
    const severity = allowedAt?.includes(level) ? "off" : (settings[code] ?? severityAt(code, level));
    if (severity === "off") continue;
    problems.push(
      endLine === undefined
        ? { code, severity, file, line, column, message, fix }
        : { code, severity, file, line, column, endLine, endColumn, message, fix },
    );
  }
  // An array grown by push has spare capacity, and thousands of these arrays are retained.
  return problems.slice();
}

/** Compares by file, then by position. */
export function inOrder(a: Problem, b: Problem): number {
  return byCodePoint(a.file, b.file) || a.line - b.line || a.column - b.column;
}

export function severityAt(code: RuleCode, level: Level): Problem["severity"] | "off" {
  const rule: Rule = rules[code];
  return level === "agents" ? (rule.agents ?? rule.spec) : rule[level];
}

/** The maximum number of findings per rule and file. More take time, and all of them are sent to the editor. */
const maxFaultsOfRule = 20;
/** Maximum length of a message or fix, which may quote the file. */
const maxTextLength = 500;

interface AnyFault {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/**
 * Bounds the findings of a file. Retains the first faults of each rule, in order; the message of the last one contains the number of
 * omitted ones. Truncates texts and removes control characters from them.
 */
export function fitFaults<Fault extends AnyFault>(faults: readonly Fault[]): readonly Fault[] {
  if (faults.length <= maxFaultsOfRule) return faults.every(isFit) ? faults : faults.map(fit);
  const counts = new Map<string, number>();
  const remaining = faults.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= maxFaultsOfRule;
  });
  return remaining.map((fault, index) => {
    const more = (counts.get(fault.code) ?? 0) - maxFaultsOfRule;
    const isLast = more > 0 && remaining.findLastIndex(({ code }) => code === fault.code) === index;
    const fitted = fit(fault);
    return isLast ? { ...fitted, message: `${fitted.message}; and ${more} more of this kind` } : fitted;
  });
}

function isFit({ message, fix }: AnyFault): boolean {
  return message.length <= maxTextLength && fix.length <= maxTextLength && !hasControls(message) && !hasControls(fix);
}

function fit<Fault extends AnyFault>(fault: Fault): Fault {
  return isFit(fault) ? fault : { ...fault, message: fitText(fault.message), fix: fitText(fault.fix) };
}

function fitText(text: string): string {
  return withoutControls(cutCodePoints(text, maxTextLength));
}
