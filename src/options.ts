import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import { defaultDataDirectory } from "./base/data-directory.ts";
import { SkillsError } from "./errors.ts";
import { type Log, silentLog } from "./base/log.ts";
import { nearest } from "./base/nearest.ts";
import { parseGrant, permissionNames } from "./trust/grants.ts";
import { version } from "./base/version.ts";

export const emitForms = ["auto", "rfd", "commands", "none"] as const;

/** In which form skills are told to the editor: as negotiated, only the RFD's update, only as commands, or not at all. */
export type EmitForm = (typeof emitForms)[number];

const toolForms = ["auto", "stdio", "none"] as const;

/** How tools are served: to the editor and, as the agent takes MCP servers, to the model; the latter over stdio only; or not at all. */
export type ToolForm = (typeof toolForms)[number];

const isolationForms = ["auto", "bubblewrap", "landlock", "seatbelt", "pyodide"] as const;

/** What isolates the code that is run: the best that works here, or exactly this. */
type IsolationForm = (typeof isolationForms)[number];

const blobLimits = [
  "maxBlobBytes",
  "quotaBytes",
  "maxBlobs",
  "ownerQuotaBytes",
  "ownerMaxBlobs",
  "runQuotaBytes",
  "runMaxBlobs",
  "ttlMs",
] as const;

/**
 * Limits on blobs (CONTRACT C-4.1): bytes of one; bytes and number of all, of one owner's, and of those that one run makes; milliseconds
 * until they go. Default: 10 MiB; 1 GiB, 20,000; 256 MiB, 5,000; 128 MiB, 512; 24 hours. Each process holds to its own, also where
 * several share a data directory.
 */
type BlobLimits = { readonly [Limit in (typeof blobLimits)[number]]?: number };

/** What every door takes. All of it is optional. */
export interface SkillsOptions {
  /** Directories of skills, absolute or relative to the process's; they come before the default roots, in this order. */
  readonly skills?: readonly string[];
  /** False leaves out `.agents/skills` and `.claude/skills` of the session's directories and of the home directory. */
  readonly defaultRoots?: boolean;
  /** What the editor is told of skills. Tools are served all the same: that is `tools`. */
  readonly emit?: EmitForm;
  readonly tools?: ToolForm;
  /** False: the model is not told which skills there are and how to reach them, except by the tools themselves. */
  readonly teach?: boolean;
  /** False: the agent's requests for permission to use our read-only tools go to the editor like all others. */
  readonly approveReadOnly?: boolean;
  /** Told what a person should know; nothing is written anywhere without it. Must not throw. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** The user's home directory. */
  readonly home?: string;
  /** Where blobs and the ledger are kept. Default: `$ACP_SKILLS_HOME`, else the platform's place for a user's data. */
  readonly dataDirectory?: string;
  /** What skills may do besides running in their sandbox: `NAME:network,secrets,project-read,project-write`. */
  readonly grants?: readonly string[];
  /** A file of `NAME=value` lines, outside every skill, in which secrets are looked up that the environment lacks. */
  readonly secretsFile?: string;
  readonly isolation?: IsolationForm;
  readonly blobs?: BlobLimits;
  /** The version advertised to the editor. */
  readonly version?: string;
}

/** Options with every default filled in. */
export type Settings = Required<Omit<SkillsOptions, "secretsFile">> & { readonly secretsFile: string | undefined };

/** What an option has to be. */
export interface OptionRule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  readonly choices?: readonly string[];
}

const aBoolean: OptionRule = { expected: "true or false", accepts: (value) => typeof value === "boolean" };
const aText: OptionRule = {
  expected: "a non-empty string",
  accepts: (value) => typeof value === "string" && value !== "",
};

/** A table instead of a zod schema: the wrapper reads its options before the agent runs, and zod takes 45 ms to load. */
const rules: Readonly<Record<keyof SkillsOptions, OptionRule>> = {
  skills: {
    expected: "an array of directory paths",
    accepts: (value) => Array.isArray(value) && value.every(aText.accepts),
  },
  defaultRoots: aBoolean,
  emit: oneOf(emitForms),
  tools: oneOf(toolForms),
  teach: aBoolean,
  approveReadOnly: aBoolean,
  log: { expected: "a function (level, message)", accepts: (value) => typeof value === "function" },
  clock: { expected: "an object with now() and after(ms, callback)", accepts: isClock },
  home: aText,
  dataDirectory: aText,
  grants: {
    expected: `an array of NAME:${permissionNames.join(",")}`,
    accepts: (value) => Array.isArray(value) && value.every((text) => typeof text === "string" && parseGrant(text)),
  },
  secretsFile: aText,
  isolation: oneOf(isolationForms),
  blobs: { expected: `whole numbers as limits of blobs: ${blobLimits.join(", ")}`, accepts: isBlobLimits },
  version: aText,
};

/**
 * Checks options from outside and fills in the defaults; `ownRules` are for those that one door takes besides.
 * Throws a SkillsError INVALID_OPTIONS that names the option, what was expected, and the nearest valid name or value.
 */
export function readOptions(options: unknown = {}, ownRules: Readonly<Record<string, OptionRule>> = {}): Settings {
  const all = new Map(Object.entries({ ...rules, ...ownRules }));
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalid("options", { expected: "an object" }, options);
  refuseUnknown(options, [...all.keys()]);
  for (const [name, value] of Object.entries(options)) {
    const rule = all.get(name);
    if (value !== undefined && rule?.accepts(value) === false) throw invalid(name, rule, value);
  }
  const given = options as SkillsOptions;
  const home = given.home ?? homedir();
  const { platform, env } = process;
  return {
    skills: (given.skills ?? []).map((directory) => resolve(directory)),
    defaultRoots: given.defaultRoots ?? true,
    emit: given.emit ?? "auto",
    tools: given.tools ?? "auto",
    teach: given.teach ?? true,
    approveReadOnly: given.approveReadOnly ?? true,
    log: given.log ?? silentLog,
    clock: given.clock ?? systemClock,
    home,
    dataDirectory: resolve(given.dataDirectory ?? defaultDataDirectory({ platform, env, home })),
    grants: given.grants ?? [],
    secretsFile: given.secretsFile === undefined ? undefined : resolve(given.secretsFile),
    isolation: given.isolation ?? "auto",
    blobs: given.blobs ?? {},
    version: given.version ?? version,
  };
}

/** Throws a SkillsError INVALID_OPTIONS for the first option that has none of these names. */
export function refuseUnknown(options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) if (!names.includes(name)) throw unknownOption(name, names);
}

function oneOf(choices: readonly string[]): OptionRule {
  return {
    expected: `one of ${choices.join(", ")}`,
    accepts: (value) => (choices as readonly unknown[]).includes(value),
    choices,
  };
}

function isClock(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { now, after } = value as Partial<Record<keyof Clock, unknown>>;
  return typeof now === "function" && typeof after === "function";
}

function isBlobLimits(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(
      ([name, limit]) =>
        (blobLimits as readonly string[]).includes(name) &&
        (limit === undefined || (Number.isSafeInteger(limit) && Number(limit) >= 0)),
    )
  );
}

function invalid(name: string, { expected, choices = [] }: Omit<OptionRule, "accepts">, value: unknown): SkillsError {
  const near = typeof value === "string" ? nearest(value, choices)[0] : undefined;
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

/** Whether the ACP door has nothing to do: every message passes unchanged, and no service is needed. */
export function hasNothingToDo({ emit, tools }: Pick<Settings, "emit" | "tools">): boolean {
  return emit === "none" && tools === "none";
}
