import type { Requirement } from "./environment/requirement.ts";
import type { Manifest } from "./manifest/manifest-schema.ts";
import type { Problem } from "./rules/problem.ts";
import type { RuleCode } from "./rules.ts";
import type { RemoteOrigin } from "./skillset/roots.ts";
import { nearest } from "../base/text/nearest.ts";

/** One version of one skill, read from disk and normalised. Frozen. */
export interface Skill {
  /** Canonical name: dotted for a manifest (`salesforce.leads.sync`), else the slug. */
  readonly name: string;
  /** Shown by editors: `^[a-z0-9]+(-[a-z0-9]+)*$`, at most 64 characters, unique in a catalog. */
  readonly slug: string;
  readonly version: string;
  readonly kind: "instruction" | "action";
  /** The manifest's namespace, else the first dotted segment of the name. */
  readonly namespace: string;
  /** 1–1024 code points, trimmed. */
  readonly description: string;
  readonly license?: string;
  /** At most 500 code points. */
  readonly compatibility?: string;
  /** The requirements that the frontmatter declares, besides `compatibility`. */
  readonly requires?: readonly Requirement[];
  readonly allowedTools?: readonly string[];
  /** `disable-model-invocation: true`: hidden from models, not from the user. */
  readonly disableModelInvocation?: true;
  /** `user-invocable: false`: not one of the editor's commands, but offered to models. */
  readonly userInvocable?: false;
  /** The hint to show for the skill's command; one line, at most 256 code points. */
  readonly argumentHint?: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly dialect: "agent-skills" | "skills-protocol";
  /** Absolute real path of the directory that contains SKILL.md. */
  readonly directory: string;
  /** Absolute path of SKILL.md, as the directory spells it. */
  readonly file: string;
  readonly manifest?: Manifest;
  /** Set if a file states the signer, trusted or not: see `signature.ts`. */
  readonly hasSignature?: true;
}

/** The directory of a skill. */
export type SkillDirectory = Pick<Skill, "directory">;

/** A skill as a catalog offers it: its current version, the roots under which it was found, and its problems. */
export interface OfferedSkill {
  readonly skill: Skill;
  /** Every root (absolute path, as configured) under which this directory was found; the first decides precedence. */
  readonly sources: readonly string[];
  readonly problems: readonly Problem[];
  /** Set if the skill is below one of the user's own roots, not a project's. */
  readonly isOwn?: true;
  /** Set if others published the skill, and it is below no root of this machine or its projects. */
  readonly remote?: RemoteOrigin;
  /** All versions, newest first; contains `skill`. */
  readonly versions: readonly Skill[];
}

/** Number of skills found and read. */
export interface SkillCounts {
  readonly found: number;
  readonly checked: number;
  readonly notChecked: number;
  /** False if unread directories may contain more skills. */
  readonly complete: boolean;
  /** Why skills were not checked. The count is 0 if the number is unknown. */
  readonly reasons: readonly { readonly code: RuleCode; readonly count: number }[];
}

/** The state of a catalog at one moment. Immutable; replaced as a whole. */
export interface Snapshot {
  /** One skill per slug, ordered by code point. */
  readonly skills: readonly OfferedSkill[];
  /** All problems: of offered skills, and of skills and directories that are not offered. */
  readonly problems: readonly Problem[];
  /** The user's own roots, even those without a skill. */
  readonly ownRoots?: readonly string[];
  /** Absent if nothing was searched. */
  readonly counts?: SkillCounts;
}

/** The difference between two snapshots, by slug. */
export interface Change {
  readonly added: readonly OfferedSkill[];
  readonly removed: readonly OfferedSkill[];
  readonly changed: readonly { readonly before: OfferedSkill; readonly after: OfferedSkill }[];
}

/** A file under `scripts/` in a supported language. */
export function isScript(path: string): boolean {
  return /^scripts\/.+\.(?:py|sh|js|mjs)$/.test(path);
}

/** The maximum number of characters of a slug. */
export const maxNameLength = 64;

/** The maximum number of characters to normalise. Later ones cannot reach a slug, and normalising long runs of accents is slow. */
export const maxNormalisedLength = 1024;

const slug = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a name is a valid slug. */
export function isSlug(name: string): boolean {
  return name.length <= maxNameLength && slug.test(name);
}

/**
 * The slug of a name: lower case without accents, with a hyphen for each run of other characters. Undefined if nothing remains, as for a
 * name in another script.
 */
export function toSlug(name: string): string | undefined {
  if (isSlug(name)) return name;
  const plain = name
    .slice(0, maxNormalisedLength)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  return plain.slice(0, maxNameLength).replace(/-$/, "") || undefined;
}

/** The message for an unknown skill, with similar names. */
export function noSuchSkill(name: string, { skills, problems }: Snapshot): string {
  const names = skills.flatMap(({ skill }) => (skill.name === skill.slug ? [skill.slug] : [skill.slug, skill.name]));
  const close = nearest(name, names, { count: 3 });
  const guess = close.length > 0 ? `did you mean ${close.join(" or ")}?` : "acp-skills list shows all";
  const leftOut = problems.some(({ severity }) => severity === "error")
    ? " (skills with errors are left out; acp-skills check shows them)"
    : "";
  return `unknown skill ${name}; ${guess}${leftOut}`;
}

/** Whether a name is SKILL.md, in any case. */
export function isSkillFileName(name: string): boolean {
  return name.length === 8 && (name === "SKILL.md" || name.toLowerCase() === "skill.md");
}

const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z.-]+)?$/;

/** Whether a directory with this name contains one version of the skill in its parent directory. */
export function isVersion(name: string): boolean {
  return semver.test(name);
}

export const requirementsFile = "code/requirements.txt";

/**
 * The file in a skill's directory that names its signer. No digest can cover it. Like dot-files, it is not served, hashed or mounted, but
 * it is installed, published and compared with the lock. In a subdirectory, a file of this name is an ordinary file.
 */
export const signatureFile = "skill.sigstore.json";

/** The name of an entry of a lock as a directory below the directory of skills, as in the `skills` package: always one name. */
export function directoryName(key: string): string {
  const name = key
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 255);
  return name === "" ? "unnamed-skill" : name;
}

const plainName = /^[\x20-\x5b\x5d-\x7e]*$/;

/**
 * Why a skill with a file or directory of this name has no digest, as the end of a sentence that starts with the name. Undefined if it may
 * have one. A digest covers lines of text that end with a path, so every reader must see a name as one name on one line.
 */
export function fileNameFault(name: string): string | undefined {
  if (plainName.test(name)) return undefined;
  if (/\p{Cs}/u.test(name)) return "is not UTF-8";
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return "contains a control character or a line separator";
  if (name.includes("\\")) return "contains a backslash";
  const isSplit = /[/\\]/.test(name.normalize("NFKC"));
  return isSplit ? "contains a character that some systems turn into a path separator" : undefined;
}
