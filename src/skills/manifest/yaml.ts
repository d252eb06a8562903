import { FAILSAFE_SCHEMA, load, YAMLException } from "js-yaml";
import { maxKeys, readPlainYaml } from "./yaml/plain-yaml.ts";
import { recoverYaml } from "./yaml/recover-yaml.ts";
import { splitYamlBlocks } from "./yaml/yaml-keys.ts";
import { isObject } from "../../base/json/json-value.ts";
import type { RuleCode } from "../rules.ts";

export { splitYamlBlocks } from "./yaml/yaml-keys.ts";

/** An error in the text of frontmatter, at an offset of that text. */
export interface YamlFault {
  readonly code: Extract<RuleCode, `yaml-${string}` | "frontmatter-not-a-mapping">;
  readonly offset: number;
  /** The end of the range; absent if the fault is a single position. */
  readonly end?: number;
  readonly message: string;
  readonly fix: string;
  /** The top-level key whose value cannot be read. */
  readonly lost?: string;
}

/** A replacement of a range of text by valid YAML with the same values. */
export interface Mend {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The values of frontmatter. Every scalar is a string. All keys, including `__proto__`, are own properties. */
export interface YamlReading {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly YamlFault[];
  /** True only if no string contains control characters. */
  readonly isClean: boolean;
  /** Corrections of unambiguous faults, in text order. */
  readonly mends: readonly Mend[];
}

const noFaults: readonly YamlFault[] = [];
const noMends: readonly Mend[] = [];
/** The maximum number of aliases: limits the size of the expanded document, whatever they refer to. */
const maxAliases = 10;
/** The maximum text in characters to parse as a whole document, and again for its sections; this takes milliseconds. */
const parsedLength = 16 * 1024;
/** The fixed cost of an attempt, in characters, because a failure throws. */
const attemptLength = 256;

/**
 * Reads the text between two fences. Never throws and never runs code: all scalars are strings, and tags are faults. If the YAML is
 * invalid, or too long for a parser, each top-level key is read separately. Then one invalid value affects only its key. Takes time
 * proportional to the length of the text.
 */
export function readYaml(text: string): YamlReading {
  const plain = readPlainYaml(text);
  if (plain !== undefined) {
    const faults = text.includes(": [") ? strictFaults(text) : noFaults;
    return { values: plain, faults, isClean: true, mends: noMends };
  }
  const whole = text.length > parsedLength ? tooMuch : loadYaml(text);
  if ("values" in whole) {
    const values = isObject(whole.values) ? whole.values : {};
    const found = isObject(whole.values)
      ? [...findCommentFaults(text, values), ...strictFaults(text)]
      : [notAMapping(whole.values)];
    return { values, faults: found.length === 0 ? noFaults : found, isClean: false, mends: noMends };
  }
  const { values, faults, mends } = recoverYaml(text, whole, createPieceLoader());
  const strict = whole.cause === "aliases" ? noFaults : strictFaults(text);
  const others = [...findCommentFaults(text, values), ...strict].filter(({ offset }) => !isInside(offset, faults));
  return { values, faults: [...faults, ...others], isClean: false, mends };
}

/** Whether another fault covers the same text. */
function isInside(offset: number, faults: readonly YamlFault[]): boolean {
  return faults.some(({ offset: from, end = from + 1 }) => from <= offset && offset < end);
}

/** Reason and position of a parser failure. */
export interface YamlFailure {
  readonly reason: string;
  readonly offset: number;
  /** `length`: not attempted, because the limit of parsed text was reached. */
  readonly cause: "syntax" | "aliases" | "length";
}

export type YamlAttempt = { readonly values: unknown } | YamlFailure;

const tooMuch: YamlFailure = { reason: "too long", offset: 0, cause: "length" };

/** Returns a function that reads sections of one document until its parsing limit is reached. Sections on the fast path do not count. */
function createPieceLoader(): (text: string, json?: boolean) => YamlAttempt {
  let left = parsedLength;
  return (text, json) => {
    const plain = readPlainYaml(text);
    if (plain !== undefined) return { values: plain };
    if (text.length + attemptLength > left) return tooMuch;
    left -= text.length + attemptLength;
    return loadYaml(text, json);
  };
}

/** Parses YAML. With `json`, the last of several equal keys counts. */
function loadYaml(text: string, json = false): YamlAttempt {
  try {
    const values: unknown = load(text, { schema: FAILSAFE_SCHEMA, maxAliases, maxDepth: 20, json });
    if (!text.includes("*") || !containsItself(values, [])) return { values };
    const offset = Math.max(text.search(/(?<=[\s[{,])\*\S/), 0);
    return { reason: "a value contains itself", offset, cause: "aliases" };
  } catch (error) {
    if (!(error instanceof YAMLException)) return { reason: String(error), offset: 0, cause: "syntax" };
    if (error.reason.includes("input is empty")) return { values: {} };
    const offset = Math.min(Math.max(error.mark?.position ?? 0, 0), text.length);
    const cause = error.reason.startsWith("aliases exceeded") ? "aliases" : "syntax";
    return { reason: error.reason, offset, cause };
  }
}

/** Whether a value contains itself through an alias. */
function containsItself(value: unknown, around: readonly unknown[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.includes(value)) return true;
  const inner = [...around, value];
  return Object.values(value).some((child) => containsItself(child, inner));
}

function notAMapping(value: unknown): YamlFault {
  const message = `frontmatter is ${Array.isArray(value) ? "a list" : "plain text"} instead of \`key: value\` lines`;
  return { code: "frontmatter-not-a-mapping", offset: 0, message, fix: "Write it as lines of the form `key: value`." };
}

const maxStrictFaults = 20;

/** Finds the first flow collections, anchors, aliases and tags, which strict readers reject. */
function strictFaults(text: string): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  for (const found of text.matchAll(/^[ \t]*(?:[\w-]+:[ \t]+|-[ \t]+)([[{&*!])/gm)) {
    faults.push({
      code: "yaml-not-strict",
      offset: found.index + found[0].length - 1,
      message: "flow collections, anchors, aliases and tags are rejected by strict frontmatter parsers",
      fix: "Write the value as a plain or quoted string, or as an indented list.",
    });
    if (faults.length === maxStrictFaults) break;
  }
  return faults.length === 0 ? noFaults : faults;
}

/** A comment that follows text on its line. */
const commentAfterText = /^(?![ \t]*#)([^\r\n]*?[ \t])(#[^\r\n]*)/m;

/** Finds comments that truncate an unquoted value, as in `Issue #5 fixer`. At most one fault per key, and only for text values. */
function findCommentFaults(text: string, values: Readonly<Record<string, unknown>>): readonly YamlFault[] {
  if (!/[ \t]#/.test(text)) return [];
  const faults: YamlFault[] = [];
  for (const { key = "", value: from, end } of splitYamlBlocks(text, maxKeys)) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value !== "string" || value === "" || "\"'|>".includes(text.charAt(from))) continue;
    const found = commentAfterText.exec(text.slice(from, end));
    const [, before = "", comment = ""] = found ?? [];
    if (found === null || value.includes(comment.trimEnd())) continue;
    const offset = from + found.index + before.length;
    const message = `\` #\` starts a comment, so the value of \`${key}\` ends before it`;
    const fix =
      "Put the value in single quotes if the text after `#` belongs to it; otherwise move the comment to its own line.";
    faults.push({ code: "yaml-comment-in-value", offset, end: offset + comment.trimEnd().length, message, fix });
  }
  return faults;
}
