import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { defaultDataDirectory } from "../base/paths/directories.ts";
import { SkillsError } from "../base/errors.ts";
import { type Log, errorLog } from "../base/log.ts";
import { nearest } from "../base/text/nearest.ts";
import { parseSource } from "../sources/source.ts";
import { version as packageVersion } from "../base/version.ts";
import { grantText, parseGrant, permissionNames } from "../wire/grant-text.ts";
import { isBlobLimits, isListOfTexts, isNonEmptyText, isPorts, toModuleUrl } from "./options/option-values.ts";
import { type RenamedOptions, withNewNames } from "./options/renamed-options.ts";

export { idleGrants, logIdleGrants } from "./options/idle-grants.ts";
export { isNonEmptyText } from "./options/option-values.ts";

export const announcedForms = ["auto", "rfd", "commands", "none"] as const;

/** The form in which skills are sent to the editor: as negotiated, only as the RFD's update, only as commands, or not at all. */
export type AnnouncedForm = (typeof announcedForms)[number];

const toolForms = ["auto", "stdio", "none"] as const;

/** The transport of the tools to the model: HTTP or stdio, as the agent supports; stdio only; or none. */
export type ToolForm = (typeof toolForms)[number];

const isolationForms = ["auto", "bubblewrap", "landlock", "seatbelt", "pyodide"] as const;

/** The isolation of code: the best available tier, or exactly the named one. */
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
 * Limits on blobs, with their defaults. Of one blob: 10 MiB. Of all blobs: 1 GiB, 20,000 blobs. Of one owner: 256 MiB, 5,000 blobs. Of one
 * run: 128 MiB, 512 blobs. A blob expires after `ttlMs` milliseconds (24 hours). Processes that share a data directory each enforce their
 * own limits.
 */
type BlobLimits = { readonly [Limit in (typeof blobLimits)[number]]?: number };

const portNames = ["sandbox", "blobs", "approvals", "sources", "ledger"] as const;

/** Options that agents in process, wrapped commands and `openSkills` share. */
export interface SkillsOptions extends RenamedOptions {
  /** Directories of skills, absolute or relative to the process's directory; they precede the default roots, in this order. */
  readonly directories?: readonly string[];
  /**
   * Sources of skills that others publish: a domain or URL, `OWNER/REPO` of GitHub, any git URL, `registry:URL`. The skills are downloaded
   * into the data directory, come after all local skills, and run only after approval.
   */
  readonly sources?: readonly string[];
  /** Hosts, with a port or without, that sources may use although their addresses are private. */
  readonly allowPrivate?: readonly string[];
  /** False leaves out `.agents/skills` and `.claude/skills` of the session's directories and of the home directory. Default: true. */
  readonly defaultRoots?: boolean;
  /**
   * The form in which skills are announced to the editor; "none" also leaves prompts that start with `/name` or `$name` unchanged.
   * Independent of `tools`. Default: "auto".
   */
  readonly announce?: AnnouncedForm;
  /** The transport of the tools to the model. Default: "auto". */
  readonly tools?: ToolForm;
  /** False: nothing about the available skills is added to prompts; the model can still list them with the tools. Default: true. */
  readonly instructModel?: boolean;
  /** False: no permission request of the agent is answered or amended for the user. Default: true. */
  readonly answerPermissions?: boolean;
  /** Receives diagnostics. Without it, errors are written to stderr and others are dropped. Must not throw. */
  readonly log?: Log;
  /** The directory of blobs, ledger and packages. Default: `$ACP_SKILLS_HOME`, else the platform's directory for user data. */
  readonly dataDirectory?: string;
  /**
   * The permissions of skills beyond their sandbox, for machines without a user to ask. Each is for `NAME@DIGEST`, a skill's directory, or
   * the name of one of the user's own skills, as it is when first seen. `:network,secrets,secret-uses,project-read,project-write` may
   * follow a name; default: all that the skill requests. The directory of a project: models may read its skills.
   */
  readonly grants?: readonly string[];
  /** A policy file besides those of the organisation and the project. Default: `$ACP_SKILLS_POLICY`. */
  readonly policy?: string;
  /** The `trusted_root.json` of a Sigstore of your own. Default: that of the public Sigstore, which this package includes. */
  readonly trustedRoot?: string;
  /** A file to which each row of the ledger is also appended; "-": `log` receives the rows. Other programs may move the file away. */
  readonly audit?: string;
  /** A file of `NAME=value` lines with secrets that are not in the environment. */
  readonly secretsFile?: string;
  /** The isolation of code. Default: "auto", the best tier that works here. */
  readonly isolation?: IsolationForm;
  /** Limits on blobs; a limit that is left out has its default. */
  readonly blobs?: BlobLimits;
  /**
   * The URL of a PostgreSQL database, `postgres://USER@HOST/DATABASE`, that servers and workers share. It holds runs, blobs, approvals and
   * the ledger; workers execute the runs. Default: `$ACP_SKILLS_CLUSTER`.
   */
  readonly cluster?: string;
  /**
   * Your own adapters for ports, each by the `file:` URL or path of a module whose default export opens it: an `OpenPort` of
   * `acp-skills/ports`. The modules run on the thread of the skills, so they never delay messages. If one cannot be loaded, sessions go on
   * without skills: the default adapter is never used instead.
   */
  readonly ports?: { readonly [Port in (typeof portNames)[number]]?: string | URL | undefined };
}

/** Values that no user sets; the command line sets `home`, and tests replace all of them. */
export interface InjectedOptions {
  readonly clock?: Clock;
  /** The user's home directory. */
  readonly home?: string;
  /** The version advertised to the editor. */
  readonly version?: string;
}

/** Options with every default filled in. */
export interface Settings extends Required<
  Omit<SkillsOptions, keyof RenamedOptions | "policy" | "trustedRoot" | "secretsFile" | "audit" | "cluster" | "ports"> &
    InjectedOptions
> {
  /** The URLs of the modules that open the ports. */
  readonly ports: { readonly [Port in (typeof portNames)[number]]?: string };
  readonly cluster: string | undefined;
  readonly policy: string | undefined;
  readonly trustedRoot: string | undefined;
  readonly secretsFile: string | undefined;
  readonly audit: string | undefined;
}

/** The settings that can be sent to another thread: all but functions. */
export type SettingsData = Omit<Settings, "log" | "clock">;

/** The settings that reach the database of a cluster. */
export type ClusterSettings = Pick<Settings, "clock" | "cluster" | "log">;

export function toSettingsData(settings: Settings): SettingsData {
  return { ...settings, log: undefined, clock: undefined } as SettingsData;
}

/** The values that an option accepts. */
export interface OptionRule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  readonly choices?: readonly string[];
}

const aBoolean: OptionRule = { expected: "true or false", accepts: (value) => typeof value === "boolean" };
const aText: OptionRule = { expected: "a non-empty string", accepts: isNonEmptyText };
export const directoryPaths: OptionRule = { expected: "an array of directory paths", accepts: isListOfTexts };

/** Not a zod schema: the wrapper reads its options before the agent starts, and zod takes 45 ms to load. */
const rules: Readonly<Record<Exclude<keyof SkillsOptions, keyof RenamedOptions>, OptionRule>> = {
  directories: directoryPaths,
  defaultRoots: aBoolean,
  sources: {
    expected: "an array of sources such as example.com, https://skills.example or OWNER/REPO",
    accepts: isListOfTexts,
  },
  allowPrivate: { expected: "an array of hosts, with a port or without", accepts: isListOfTexts },
  announce: oneOf(announcedForms),
  tools: oneOf(toolForms),
  instructModel: aBoolean,
  answerPermissions: aBoolean,
  log: { expected: "a function (level, message)", accepts: (value) => typeof value === "function" },
  dataDirectory: aText,
  grants: {
    expected: `an array of NAME@DIGEST, NAME:${permissionNames.join(",")} or paths of directories`,
    accepts: (value) =>
      Array.isArray(value) && value.every((text) => typeof text === "string" && parseGrant(grantText(text))),
  },
  cluster: aText,
  policy: aText,
  trustedRoot: aText,
  audit: aText,
  secretsFile: aText,
  isolation: oneOf(isolationForms),
  blobs: { expected: `an object of whole numbers: ${blobLimits.join(", ")}`, accepts: isBlobLimits },
  ports: { expected: `an object of file: URLs or paths of modules: ${portNames.join(", ")}`, accepts: isPorts },
};

/**
 * Validates options and fills in the defaults; `rules` are those that only one transport has. Throws a SkillsError INVALID_OPTIONS that
 * names the option, what was expected, and the nearest valid name or value.
 */
export function readOptions(
  given: unknown = {},
  {
    rules: ownRules = {},
    clock = systemClock,
    home = homedir(),
    version = packageVersion,
  }: InjectedOptions & { readonly rules?: Readonly<Record<string, OptionRule>> } = {},
): Settings {
  const all = new Map(Object.entries({ ...rules, ...ownRules }));
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid("options", { expected: "an object" }, given);
  const options: SkillsOptions = withNewNames(given);
  refuseUnknown(options, [...all.keys()]);
  for (const [name, value] of Object.entries(options)) {
    const rule = all.get(name);
    if (value !== undefined && rule?.accepts(value) === false) throw invalid(name, rule, value);
  }
  refuseUnknown(options.ports ?? {}, portNames, "ports.");
  refuseUnknown(options.blobs ?? {}, blobLimits, "blobs.");
  // Throws INVALID_OPTIONS for a text that names no source.
  options.sources?.forEach((text) => void parseSource(text));
  const { ports = {}, isolation = "auto", audit } = options;
  if (ports.sandbox !== undefined && isolation !== "auto") throw excluded("isolation", "ports.sandbox");
  if (ports.ledger !== undefined && audit !== undefined) throw excluded("audit", "ports.ledger");
  const { platform, env } = process;
  const policy = options.policy ?? (env.ACP_SKILLS_POLICY || undefined);
  return {
    directories: (options.directories ?? []).map((directory) => resolve(directory)),
    sources: options.sources ?? [],
    allowPrivate: options.allowPrivate ?? [],
    defaultRoots: options.defaultRoots ?? true,
    announce: options.announce ?? "auto",
    tools: options.tools ?? "auto",
    instructModel: options.instructModel ?? true,
    answerPermissions: options.answerPermissions ?? true,
    log: options.log ?? errorLog,
    clock,
    home,
    dataDirectory: resolve(options.dataDirectory ?? defaultDataDirectory(home, env, platform)),
    grants: (options.grants ?? []).map(grantText),
    cluster: options.cluster ?? (env.ACP_SKILLS_CLUSTER || undefined),
    policy: policy === undefined ? undefined : resolve(policy),
    trustedRoot: options.trustedRoot === undefined ? undefined : resolve(options.trustedRoot),
    audit: audit === undefined || audit === "-" ? audit : resolve(audit),
    secretsFile: options.secretsFile === undefined ? undefined : resolve(options.secretsFile),
    isolation,
    blobs: options.blobs ?? {},
    ports: Object.fromEntries(
      Object.entries(ports).flatMap(([name, module]) => (module === undefined ? [] : [[name, toModuleUrl(module)]])),
    ),
    version,
  };
}

/** Throws a SkillsError INVALID_OPTIONS for the first option whose name is not one of `names`. */
export function refuseUnknown(options: object, names: readonly string[], prefix = ""): void {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const message = `Unknown option ${JSON.stringify(prefix + name)}: expected one of ${names.join(", ")}.`;
    throw invalidOption(message, { option: prefix + name, expected: names }, nearest(name, names)[0]);
  }
}

function oneOf(choices: readonly string[]): OptionRule {
  return {
    expected: `one of ${choices.join(", ")}`,
    accepts: (value) => (choices as readonly unknown[]).includes(value),
    choices,
  };
}

function invalid(name: string, { expected, choices = [] }: Omit<OptionRule, "accepts">, value: unknown): SkillsError {
  const got = typeof value === "string" ? JSON.stringify(value) : value === null ? "null" : typeof value;
  const [near] = typeof value === "string" ? nearest(value, choices) : [];
  return invalidOption(`Option ${name}: expected ${expected}, got ${got}.`, { option: name, expected }, near);
}

function excluded(option: string, by: string): SkillsError {
  return invalidOption(`Option ${option} has no effect on ${by}: leave out one of them.`, { option }, undefined);
}

function invalidOption(message: string, facts: Record<string, unknown>, near: string | undefined): SkillsError {
  if (near === undefined) return new SkillsError("INVALID_OPTIONS", message, { facts });
  const question = `${message} Did you mean "${near}"?`;
  return new SkillsError("INVALID_OPTIONS", question, { facts: { ...facts, nearest: near } });
}

/** Whether the ACP transport has nothing to do: every message passes unchanged, and no service is needed. */
export function hasNothingToDo({ announce, tools }: Pick<Settings, "announce" | "tools">): boolean {
  return announce === "none" && tools === "none";
}
