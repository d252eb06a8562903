import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "./clock.ts";
import { SkillsError } from "./errors.ts";
import { type Log, silentLog } from "./log.ts";
import { nearest } from "./nearest.ts";
import { version } from "./version.ts";

export const emitForms = ["auto", "rfd", "commands", "none"] as const;

/** In which form skills are told to the editor: as negotiated, only the RFD's update, only as commands, or not at all. */
export type EmitForm = (typeof emitForms)[number];

/** What every door takes. All of it is optional. */
export interface SkillsOptions {
  /** Directories of skills, absolute or relative to the process's; they come before the default roots, in this order. */
  readonly skills?: readonly string[];
  /** False leaves out `.agents/skills` and `.claude/skills` of the session's directories and of the home directory. */
  readonly defaultRoots?: boolean;
  readonly emit?: EmitForm;
  /** Told what a person should know; nothing is written anywhere without it. Must not throw. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** The user's home directory. */
  readonly home?: string;
  /** The version advertised to the editor. */
  readonly version?: string;
}

/** Options with every default filled in. */
export type Settings = Required<SkillsOptions>;

interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const aText: Rule = { expected: "a non-empty string", accepts: (value) => typeof value === "string" && value !== "" };

/** A table instead of a zod schema: the wrapper reads its options before the agent runs, and zod takes 45 ms to load. */
const rules: Readonly<Record<keyof SkillsOptions, Rule>> = {
  skills: {
    expected: "an array of directory paths",
    accepts: (value) => Array.isArray(value) && value.every(aText.accepts),
  },
  defaultRoots: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
  emit: {
    expected: `one of ${emitForms.join(", ")}`,
    accepts: (value) => (emitForms as readonly unknown[]).includes(value),
  },
  log: { expected: "a function (level, message)", accepts: (value) => typeof value === "function" },
  clock: { expected: "an object with now() and after(ms, callback)", accepts: isClock },
  home: aText,
  version: aText,
};

/**
 * Checks options from outside and fills in the defaults.
 * Throws a SkillsError INVALID_OPTIONS that names the option, what was expected, and the nearest valid name or value.
 */
export function readOptions(options: unknown = {}): Settings {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalid("options", "an object", options);
  refuseUnknown(options, Object.keys(rules));
  for (const [name, value] of Object.entries(options)) {
    const rule = rules[name as keyof SkillsOptions];
    if (value !== undefined && !rule.accepts(value)) throw invalid(name, rule.expected, value);
  }
  const given = options as SkillsOptions;
  return {
    skills: (given.skills ?? []).map((directory) => resolve(directory)),
    defaultRoots: given.defaultRoots ?? true,
    emit: given.emit ?? "auto",
    log: given.log ?? silentLog,
    clock: given.clock ?? systemClock,
    home: given.home ?? homedir(),
    version: given.version ?? version,
  };
}

/** Throws a SkillsError INVALID_OPTIONS for the first option that has none of these names. */
export function refuseUnknown(options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) if (!names.includes(name)) throw unknownOption(name, names);
}

function isClock(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { now, after } = value as Partial<Record<keyof Clock, unknown>>;
  return typeof now === "function" && typeof after === "function";
}

function invalid(name: string, expected: string, value: unknown): SkillsError {
  const near = typeof value === "string" && name === "emit" ? nearest(value, emitForms)[0] : undefined;
  const got = typeof value === "string" ? JSON.stringify(value) : value === null ? "null" : typeof value;
  const message = `Option ${name}: expected ${expected}, got ${got}.`;
  return new SkillsError("INVALID_OPTIONS", near === undefined ? message : `${message} Did you mean "${near}"?`, {
    facts: { option: name, expected, ...(near !== undefined && { nearest: near }) },
  });
}

function unknownOption(name: string, names: readonly string[]): SkillsError {
  const [near] = nearest(name, names);
  const message = `Unknown option ${JSON.stringify(name)}: expected one of ${names.join(", ")}.`;
  return new SkillsError("INVALID_OPTIONS", near === undefined ? message : `${message} Did you mean "${near}"?`, {
    facts: { option: name, expected: names, ...(near !== undefined && { nearest: near }) },
  });
}
