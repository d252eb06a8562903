import { FAILSAFE_SCHEMA, load, YAMLException } from "js-yaml";
import { findCommentFaults } from "./comment-faults.ts";
import { readPlainYaml } from "./plain-yaml.ts";
import { recoverYaml } from "./recover-yaml.ts";
import type { RuleCode } from "../rules/rules.ts";

/** Something wrong in a frontmatter's text, at an offset of it. */
export interface Fault {
  readonly code: Extract<RuleCode, `yaml-${string}` | "frontmatter-not-a-mapping">;
  readonly offset: number;
  /** Where the text that is wrong ends; absent where a single place is meant. */
  readonly end?: number;
  readonly message: string;
  readonly fix: string;
}

/** Valid YAML for a part of a text, which says what was read from that part. */
export interface Mend {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a frontmatter says. Every scalar is a string. Keys are own properties, whatever they are called. */
export interface YamlReading {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly Fault[];
  /** Whether it is certain that no string holds control characters. */
  readonly isClean: boolean;
  /** Corrections of faults, in the order of the text; of those only that leave no doubt about what is meant. */
  readonly mends: readonly Mend[];
}

const noFaults: readonly Fault[] = [];
const noMends: readonly Mend[] = [];
/** Few enough that what a document says stays small when it is written out, whatever the aliases point to. */
const maxAliases = 10;
/** The most text a parser is given for a whole document, and once more for its parts: it takes milliseconds for so much. */
const parsedLength = 16 * 1024;
/** What an attempt costs beside its length, in characters: a failure is an exception. */
const attemptLength = 256;

/**
 * Reads the text between two fences. Never throws and never runs code: all scalars are strings, and tags that construct
 * something are faults. Where YAML is broken, or too long for a parser, each top-level key is read on its own, so that one
 * bad value costs one key. The work is bounded in proportion to the text's length.
 */
export function readYaml(text: string): YamlReading {
  const plain = readPlainYaml(text);
  if (plain !== undefined) {
    return {
      values: plain,
      faults: text.includes(": [") ? strictFaults(text) : noFaults,
      isClean: true,
      mends: noMends,
    };
  }
  const whole = text.length > parsedLength ? tooMuch : loadYaml(text);
  if ("values" in whole) {
    const values = isMapping(whole.values) ? whole.values : {};
    const found = isMapping(whole.values)
      ? [...findCommentFaults(text, values), ...strictFaults(text)]
      : [notAMapping(whole.values)];
    return { values, faults: found.length === 0 ? noFaults : found, isClean: false, mends: noMends };
  }
  const { values, faults, mends } = recoverYaml(text, whole, openPartLoader());
  const strict = whole.cause === "aliases" ? noFaults : strictFaults(text);
  const others = [...findCommentFaults(text, values), ...strict].filter(({ offset }) => !isInside(offset, faults));
  return { values, faults: [...faults, ...others], isClean: false, mends };
}

/** Whether another fault is about the same text. */
function isInside(offset: number, faults: readonly Fault[]): boolean {
  return faults.some(({ offset: from, end = from + 1 }) => from <= offset && offset < end);
}

/** Why an attempt at YAML failed, and where. */
export interface YamlFailure {
  readonly reason: string;
  readonly offset: number;
  /** `length`: it was not attempted, because enough text has been parsed. */
  readonly cause: "syntax" | "aliases" | "length";
}

export type YamlAttempt = { readonly values: unknown } | YamlFailure;

const tooMuch: YamlFailure = { reason: "too long", offset: 0, cause: "length" };

/** Reads parts of one document until that has been work enough; plain ones cost next to nothing and are always read. */
function openPartLoader(): (text: string) => YamlAttempt {
  let left = parsedLength;
  return (text) => {
    const plain = readPlainYaml(text);
    if (plain !== undefined) return { values: plain };
    if (text.length + attemptLength > left) return tooMuch;
    left -= text.length + attemptLength;
    return loadYaml(text);
  };
}

function loadYaml(text: string): YamlAttempt {
  try {
    const values: unknown = load(text, { schema: FAILSAFE_SCHEMA, maxAliases, maxDepth: 20 });
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

/** Whether an alias leads back to a value that it stands in. */
function containsItself(value: unknown, around: readonly unknown[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.includes(value)) return true;
  const inner = [...around, value];
  return Object.values(value).some((child) => containsItself(child, inner));
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notAMapping(value: unknown): Fault {
  return {
    code: "frontmatter-not-a-mapping",
    offset: 0,
    message: `frontmatter is ${Array.isArray(value) ? "a list" : "plain text"} instead of \`key: value\` lines`,
    fix: "Write it as lines of the form `key: value`.",
  };
}

const mostStrictFaults = 20;

/** Where the text uses flow collections, anchors, aliases or tags, which strict readers reject; only the first places. */
function strictFaults(text: string): readonly Fault[] {
  const faults: Fault[] = [];
  for (const found of text.matchAll(/^[ \t]*(?:[\w-]+:[ \t]+|-[ \t]+)([[{&*!])/gm)) {
    faults.push({
      code: "yaml-not-strict",
      offset: found.index + found[0].length - 1,
      message: "flow collections, anchors, aliases and tags are rejected by strict frontmatter parsers",
      fix: "Write the value as a plain or quoted string, or as an indented list.",
    });
    if (faults.length === mostStrictFaults) break;
  }
  return faults.length === 0 ? noFaults : faults;
}
