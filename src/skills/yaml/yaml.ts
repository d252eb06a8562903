import { FAILSAFE_SCHEMA, load, YAMLException } from "js-yaml";
import { findCommentFaults } from "./comment-faults.ts";
import { readPlainYaml } from "./plain-yaml.ts";
import { recoverYaml } from "./recover-yaml.ts";
import type { RuleCode } from "../rules/rules.ts";

/** Something wrong in a frontmatter's text, at an offset of it. */
export interface Fault {
  readonly code: Extract<RuleCode, `yaml-${string}` | "frontmatter-not-a-mapping">;
  readonly offset: number;
  readonly message: string;
  readonly fix: string;
}

/** What a frontmatter says. Every scalar is a string. Keys are own properties, whatever they are called. */
export interface YamlReading {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly Fault[];
  /** Whether it is certain that no string holds control characters. */
  readonly isClean: boolean;
}

const noFaults: readonly Fault[] = [];
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
    return { values: plain, faults: text.includes(": [") ? strictFaults(text) : noFaults, isClean: true };
  }
  const whole = text.length > parsedLength ? tooMuch : loadYaml(text);
  if ("values" in whole) {
    if (!isMapping(whole.values)) return { values: {}, faults: [notAMapping(whole.values)], isClean: true };
    const faults = [...findCommentFaults(text, whole.values), ...strictFaults(text)];
    return { values: whole.values, faults: faults.length === 0 ? noFaults : faults, isClean: false };
  }
  const { values, faults } = recoverYaml(text, whole, openPartLoader());
  const strict = whole.cause === "aliases" ? noFaults : strictFaults(text);
  const isNew = strict.filter(({ offset }) => faults.every((other) => other.offset !== offset));
  return { values, faults: [...faults, ...findCommentFaults(text, values), ...isNew], isClean: false };
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
    if (!text.includes("*") || !holdsItself(values, [])) return { values };
    const offset = Math.max(text.search(/(?<=[\s[{,])\*\S/), 0);
    return { reason: "a value holds itself", offset, cause: "aliases" };
  } catch (error) {
    if (!(error instanceof YAMLException)) return { reason: String(error), offset: 0, cause: "syntax" };
    if (error.reason.includes("input is empty")) return { values: {} };
    const offset = Math.min(Math.max(error.mark?.position ?? 0, 0), text.length);
    const cause = error.reason.startsWith("aliases exceeded") ? "aliases" : "syntax";
    return { reason: error.reason, offset, cause };
  }
}

/** Whether an alias leads back to a value that it stands in. */
function holdsItself(value: unknown, around: readonly unknown[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.includes(value)) return true;
  const inner = [...around, value];
  return Object.values(value).some((child) => holdsItself(child, inner));
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notAMapping(value: unknown): Fault {
  return {
    code: "frontmatter-not-a-mapping",
    offset: 0,
    message: `frontmatter is ${Array.isArray(value) ? "a list" : "plain text"}, not a mapping of keys to values`,
    fix: "Write it as lines of the form key: value.",
  };
}

/** Where the text uses flow collections, anchors, aliases or tags, which strict readers refuse. */
function strictFaults(text: string): readonly Fault[] {
  const found = /^[ \t]*(?:[\w-]+:[ \t]+|-[ \t]+)([[{&*!])/m.exec(text);
  if (found === null) return noFaults;
  return [
    {
      code: "yaml-not-strict",
      offset: found.index + found[0].length - 1,
      message: "flow collections, anchors, aliases and tags are refused by strict readers of frontmatter",
      fix: "Write the value as a plain or quoted string, or as an indented list.",
    },
  ];
}
