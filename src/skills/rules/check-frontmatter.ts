import { countCodePoints, tooLong } from "../text/code-points.ts";
import { nearest } from "../../base/nearest.ts";
import { isSlug, longestNormalised, maxNameLength, toSlug } from "../names.ts";
import { maxFaultsOfRule } from "./rules.ts";
import type { Level, RuleCode } from "./rules.ts";

/** A rule violation in frontmatter, before the position of its key is known. */
export interface ValueFault {
  readonly code: RuleCode;
  readonly key: string;
  readonly child?: string;
  /** The part at fault. Default: the value, if it is on the line of the key. */
  readonly part?: "key" | "value";
  /** The faulty text in the value. */
  readonly sought?: string;
  readonly message: string;
  readonly fix: string;
  readonly allowedAt?: readonly Level[];
}

export const maxDescriptionLength = 1024;
export const maxCompatibilityLength = 500;

/** Checks the name in frontmatter against the specification and AvailableSkill; `directory` is the name it must match. */
export function checkName(name: string, directory: string, report: (fault: ValueFault) => void): void {
  if (isSlug(name) && name === directory) return;
  const isLong = name.length > longestNormalised;
  const normal = name.slice(0, longestNormalised).normalize("NFKC");
  const slug = toSlug(name);
  const length = countCodePoints(isLong ? name : normal);
  if (length > maxNameLength) {
    const message = tooLong("name", length, maxNameLength);
    report({ code: "name-too-long", key: "name", message, fix: "Shorten the name." });
  }
  const spelling = spellingFault(normal);
  if (spelling !== undefined && !(spelling.code === "name-not-ascii" && slug === undefined)) {
    const fix = slug === undefined || slug === name ? spelling.fix : `Rename it to \`${slug}\`.`;
    report({ ...spelling, key: "name", message: `name \`${normal}\` ${spelling.message}`, fix });
  }
  if (normal === directory.normalize("NFKC") || (spelling !== undefined && slug === directory)) return;
  const message = `name \`${normal}\` does not match its directory \`${directory}\``;
  report({ code: "name-directory-mismatch", key: "name", message, fix: renaming(name, directory) });
}

/** The first fault in the characters of a name. Only one is reported, because one rename fixes them all. */
function spellingFault(name: string): Pick<ValueFault, "code" | "message" | "fix"> | undefined {
  if (name !== name.toLowerCase()) {
    const fix = `Rename it to \`${name.toLowerCase()}\`.`;
    return { code: "name-not-lowercase", message: "contains uppercase letters", fix };
  }
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) {
    const message = "contains characters other than letters, digits and hyphens";
    return { code: "name-invalid-characters", message, fix: "Use lowercase letters, digits and single hyphens." };
  }
  if (/^-|-$|--/.test(name)) {
    const message = "has leading, trailing or doubled hyphens";
    return { code: "name-hyphens", message, fix: "Use single hyphens between words." };
  }
  if (!/^[a-z0-9-]*$/i.test(name)) {
    const message = "contains letters other than a-z, which editors reject";
    return { code: "name-not-ascii", message, fix: "Use the letters a-z, digits and hyphens." };
  }
  return undefined;
}

/** The fix for a name that differs from its directory. Suggests valid names, if there are any. */
function renaming(name: string, directory: string): string {
  const [forDirectory = name, forName = directory] = [toSlug(name), toSlug(directory)];
  return forDirectory === forName
    ? `Rename both to \`${forName}\`.`
    : `Rename the directory to \`${forDirectory}\`, or the name to \`${forName}\`.`;
}

/** The frontmatter fields of the Agent Skills specification. */
export const specificationFields: readonly string[] = [
  "name",
  "description",
  "license",
  "allowed-tools",
  "metadata",
  "compatibility",
];

/** The frontmatter fields that Claude Code adds. */
const claudeFields: readonly string[] = [
  "agent",
  "argument-hint",
  "arguments",
  "context",
  "disable-model-invocation",
  "disallowed-tools",
  "effort",
  "hooks",
  "model",
  "paths",
  "shell",
  "user-invocable",
  "when_to_use",
];

/** The Claude Code fields that are supported here (C-1.1). */
const honouredFields = new Set(["argument-hint", "disable-model-invocation", "user-invocable"]);
const known = new Set(specificationFields);
const claude = new Set(claudeFields);
const allowedForClaude: readonly Level[] = ["claude"];
const honoured: readonly Level[] = ["claude", "lenient"];

/** Reports each top-level key that is not a field of the specification. */
export function checkFields(values: Readonly<Record<string, unknown>>, report: (fault: ValueFault) => void): void {
  let count = 0;
  for (const key of Object.keys(values)) {
    if (known.has(key)) continue;
    const { fault, close } = ++count > maxFaultsOfRule ? { fault: unexpected(key) } : unexpectedField(key);
    report(close !== undefined && Object.hasOwn(values, close) ? unexpected(key) : fault);
  }
}

const unexpectedFields = new Map<string, { readonly fault: ValueFault; readonly close: string | undefined }>();
const mostRemembered = 1000;

/** The fault of a key, and the field that it probably misspells. Cached, as the same few keys appear in thousands of skills. */
function unexpectedField(key: string): { readonly fault: ValueFault; readonly close?: string | undefined } {
  const remembered = unexpectedFields.get(key);
  if (remembered !== undefined) return remembered;
  const close = key.length > maxNameLength || claude.has(key) ? undefined : nearest(key, specificationFields)[0];
  const field = { fault: unexpected(key, close), close };
  if (unexpectedFields.size === mostRemembered) unexpectedFields.clear();
  unexpectedFields.set(key, field);
  return field;
}

function unexpected(key: string, close?: string): ValueFault {
  const fault = { code: "field-unexpected", key, part: "key" } as const;
  if (claude.has(key)) {
    const message = `\`${key}\` is a field of Claude Code, not a standard one`;
    const fix = "Check with --level claude if the skill is for Claude Code, or remove it.";
    return { ...fault, message, fix, allowedAt: honouredFields.has(key) ? honoured : allowedForClaude };
  }
  const message = `\`${key}\` is not a standard field; put it under \`metadata:\``;
  const fix =
    close === undefined
      ? "Move it under `metadata:`, or remove it."
      : `Did you mean \`${close}\`? Otherwise move it under \`metadata:\`.`;
  return { ...fault, message, fix };
}
