import { FAILSAFE_SCHEMA, load, YAMLException } from "js-yaml";
import { readPlainYaml } from "./plain-yaml.ts";
import { recoverYaml } from "./recover-yaml.ts";
import type { RuleCode } from "./rules.ts";

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
}

const noFaults: readonly Fault[] = [];
/** Few enough that what a document says stays small when it is written out, whatever the aliases point to. */
const maxAliases = 10;

/**
 * Reads the text between two fences. Never throws and never runs code: all scalars are strings, and tags that construct
 * something are faults. Where YAML is broken, each top-level key is read on its own, so that one bad value costs one key.
 */
export function readYaml(text: string): YamlReading {
  const plain = readPlainYaml(text);
  if (plain !== undefined) return { values: plain, faults: text.includes(": [") ? strictFaults(text) : noFaults };
  const whole = loadYaml(text);
  if (!("values" in whole)) {
    const { values, faults } = recoverYaml(text, whole, loadPart);
    const strict = whole.aliases ? noFaults : strictFaults(text);
    return {
      values,
      faults: [...faults, ...strict.filter(({ offset }) => faults.every((fault) => fault.offset !== offset))],
    };
  }
  return isMapping(whole.values) ? { values: whole.values, faults: strictFaults(text) } : notAMapping(whole.values);
}

/** One attempt at YAML: its value, or where and why it failed. */
export type YamlAttempt =
  { readonly values: unknown } | { readonly reason: string; readonly offset: number; readonly aliases: boolean };

function loadPart(text: string): YamlAttempt {
  const plain = readPlainYaml(text);
  return plain === undefined ? loadYaml(text) : { values: plain };
}

function loadYaml(text: string): YamlAttempt {
  try {
    return { values: load(text, { schema: FAILSAFE_SCHEMA, maxAliases, maxDepth: 20 }) };
  } catch (error) {
    if (!(error instanceof YAMLException)) return { reason: String(error), offset: 0, aliases: false };
    if (error.reason.includes("input is empty")) return { values: {} };
    const offset = Math.min(Math.max(error.mark?.position ?? 0, 0), text.length);
    return {
      reason: error.reason,
      offset,
      aliases: error.reason.startsWith("aliases exceeded"),
    };
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notAMapping(value: unknown): YamlReading {
  return {
    values: {},
    faults: [
      {
        code: "frontmatter-not-a-mapping",
        offset: 0,
        message: `frontmatter is ${Array.isArray(value) ? "a list" : "plain text"}, not a mapping of keys to values`,
        fix: "Write it as lines of the form key: value.",
      },
    ],
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
