import path from "node:path";
import { isIP } from "node:net";
import type * as z from "zod";
import { isObject } from "../base/json/json-value.ts";
import type { FileProblem } from "../base/failures/file-problem.ts";
import {
  type JsonNode,
  parseJsonNode,
  rangeOf,
  valueOf,
  type JsonPath,
  nodeAt,
  repeatedKeys,
} from "../base/json/json-text.ts";
import { readGuardedFile } from "../base/paths/read-guarded-file.ts";
import { type WrittenConfig, callerSchema, configLimits, configSchema } from "./config/config-schema.ts";
import { type KnownKeys, type SchemaFault, toSchemaFaults } from "./config/schema-faults.ts";
import { type CallerConfig, type ServeConfig, defaultCallerLimits, defaultConfig } from "./config.ts";
import { toTokenDigest } from "../wire/http.ts";

type ConfigProblem = FileProblem<
  | "config-unreadable"
  | "config-syntax"
  | "config-key-unknown"
  | "config-key-missing"
  | "config-key-duplicate"
  | "config-value-invalid"
  | "config-token-invalid"
>;

/** The result of reading a configuration file. */
export interface ReadConfig {
  /** The configuration; undefined if there is an error. */
  readonly config?: ServeConfig;
  /** Absolute directories of skills. */
  readonly skills: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** Returns a line of the text for messages, numbered from 1, with possible tokens masked. */
  readonly sourceLine: (line: number) => string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

type Report = (code: ConfigProblem["code"], range: SchemaFault["range"], message: string, fix: string) => void;
type ReportAt = (path: JsonPath, message: string, fix: string) => void;

/** The maximum number of problems that are reported. */
const maxProblems = 50;

/** Reads the file of `--config`. Only this user and root may be able to change it. */
export function readConfigFile(file: string, env: Environment): ReadConfig {
  const read = readGuardedFile(file, { maxBytes: configLimits.bytes, of: "user" });
  if ("text" in read) return readServeConfig(file, read.text, env);
  const { fault: message, fix } = read;
  const problem = { code: "config-unreadable", severity: "error", file, line: 1, column: 1, message, fix } as const;
  return { skills: [], problems: [problem], sourceLine: () => undefined };
}

/** Reads and validates the text of a configuration. `file` is absolute. Tokens from `env` are hashed at once. */
export function readServeConfig(file: string, content: string, env: Environment): ReadConfig {
  const text = content.replace(/^\uFEFF/, "");
  const problems: ConfigProblem[] = [];
  const report: Report = (code, range, message, fix) => {
    const problem = { code, severity: "error", file, ...rangeOf(text, range), message, fix } as const;
    if (problems.length < maxProblems) problems.push(problem);
  };
  const sourceLine = maskedLines(text);
  const root = parseJsonNode(text);
  if ("fault" in root) {
    report("config-syntax", root.fault, root.fault.message, root.fault.fix);
    return { skills: [], problems, sourceLine };
  }
  for (const entry of repeatedKeys(root))
    report("config-key-duplicate", entry, `the key ${JSON.stringify(entry.key.slice(0, 128))} occurs twice`, "Keep one of them."); // prettier-ignore
  const written = checkForm(root, report);
  if (written === undefined || problems.length > 0) return { skills: [], problems, sourceLine };
  checkNames(written, (path, ...what) => report("config-value-invalid", nodeAt(root, path), ...what));
  const tokens = readTokens(written, env, (path, ...what) =>
    report("config-token-invalid", nodeAt(root, path), ...what),
  );
  if (problems.length > 0) return { skills: [], problems, sourceLine };
  const skills = (written.skills ?? []).map((directory) => path.resolve(path.dirname(file), directory));
  return { config: toServeConfig(written, tokens), skills, problems, sourceLine };
}

function checkForm(root: JsonNode, report: Report): WrittenConfig | undefined {
  const checked = configSchema.safeParse(valueOf(root));
  if (checked.success) return checked.data;
  const known = (): KnownKeys => configSchema.toJSONSchema({ io: "input" }) as KnownKeys;
  for (const { kind, range, message, fix } of toSchemaFaults(checked.error.issues, root, known))
    report(`config-${kind}`, range, message, fix);
  return undefined;
}

/** Reports faults that a schema does not find: names that occur twice or are reserved, and limits that contradict each other. */
function checkNames({ callers = [], shares = [], limits = {} }: WrittenConfig, report: ReportAt): void {
  for (const [list, named] of Object.entries({ callers, shares })) {
    const seen = new Set(reservedNames);
    for (const [index, { name }] of named.entries()) {
      if (seen.has(name))
        report([list, index, "name"], `the name ${name} is used twice, or reserved`, "Use another name.");
      seen.add(name);
    }
  }
  const { headerSeconds = 0, requestSeconds = Infinity } = limits;
  if (headerSeconds > requestSeconds)
    report(["limits", "headerSeconds"], "headerSeconds is longer than requestSeconds", "Make it at most as long.");
}

/** Masks possible tokens in the text: long words, and the values of keys with "token" in their names. */
function maskedLines(text: string): ReadConfig["sourceLine"] {
  const isHarmless = (word: string): boolean => /^(?:sha256:[0-9a-f]{64}|env:\w+)$/.test(word);
  const mask = (word: string): string => (isHarmless(word) ? word : "*".repeat(Array.from(word).length));
  const lines = text.split(/\r\n?|\n/).map((line) => {
    const masked = line.replace(
      /("[^"]{0,64}tok[^"]{0,64}"\s{0,64}:\s{0,64}")([^"]*)/gi,
      (_all, key: string, word: string) => key + mask(word),
    );
    return masked.replace(/(?:sha256:)?[\w+=-]{22,}/g, (word) => (/[\dA-Z]/.test(word) ? mask(word) : word));
  });
  return (line) => lines[line - 1];
}

const remedy = "Use the one that acp-skills serve --new-token prints.";

/**
 * Reads the digests of the tokens, in the order of the callers and shares; hashes tokens from the environment. Refuses tokens that are
 * missing, used twice or could be guessed. Messages never contain a token.
 */
function readTokens({ callers = [], shares = [] }: WrittenConfig, env: Environment, report: ReportAt) {
  const seen = new Map<string, string>();
  const read = (list: "callers" | "shares", index: number, written: string, owner: string): Buffer => {
    const keys = [list, index, "token"];
    const digest = toDigest(written, list === "shares" ? "path" : "header", env);
    if ("message" in digest) {
      report(keys, digest.message, digest.fix);
      return Buffer.alloc(0);
    }
    const key = digest.toString("hex");
    const other = seen.get(key);
    if (other === undefined) seen.set(key, owner);
    else report(keys, `the token of ${owner} is also that of ${other}`, "Give each a token of its own.");
    return digest;
  };
  return {
    callers: callers.map(({ name, token }, index) => read("callers", index, token, `caller ${name}`)),
    shares: shares.map(({ name, token }, index) => read("shares", index, token, `share ${name}`)),
  };
}

function toDigest(written: string, form: "header" | "path", env: Environment) {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(written) ?? [];
  if (hex !== undefined) return Buffer.from(hex, "hex");
  const name = written.slice("env:".length);
  const token = env[name];
  if (token === undefined || token === "")
    return { message: `the environment variable ${name} is not set`, fix: `Set it to a token. ${remedy}` };
  const fault = tokenFault(token, form);
  return fault === undefined ? toTokenDigest(token) : { message: `the token in ${name} ${fault}`, fix: remedy };
}

/** The minimum randomness of a token, so that nobody can guess it. */
const minTokenBits = 128;
const minDistinct = 8;
const maxTextLength = 512;

/**
 * Why a token is refused, by its length and alphabet: a clause that never contains the token. Undefined if it could be random enough, such
 * as 22 characters of base64url or 32 hexadecimal digits.
 */
export function tokenFault(token: string, form: "header" | "path"): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(token)) return "is empty, or has characters other than printable ASCII without blanks";
  if (form === "path" && !/^[A-Za-z0-9_-]+$/.test(token)) return "has characters other than letters, digits, _ and -";
  if (token.length > maxTextLength) return `is longer than ${maxTextLength} characters`;
  const bits = Math.floor(token.length * Math.log2(alphabetOf(token)));
  if (bits < minTokenBits) return `has at most ${bits} bits of randomness; it needs ${minTokenBits}`;
  return new Set(token).size < minDistinct ? `has fewer than ${minDistinct} different characters` : undefined;
}

function alphabetOf(token: string): number {
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(token)) return /[a-f]/i.test(token) ? 16 : 10;
  const hasBothCases = /[a-z]/.test(token) && /[A-Z]/.test(token);
  // Random text of this alphabet may lack its digits by chance.
  return hasBothCases ? 64 : 26 + (/\d/.test(token) ? 10 : 0);
}

const allSkills: readonly string[] = ["*"];

/** Fills the defaults into a valid configuration. */
function toServeConfig(written: WrittenConfig, tokens: ReturnType<typeof readTokens>): ServeConfig {
  const { provider, url, access = {}, capabilityTypes = {}, callers = [], anonymous = {}, shares = [] } = written;
  const base = defaultConfig;
  return {
    provider: {
      ...base.provider,
      ...provider,
      domain: toReverseDomain(provider?.url ?? url) ?? base.provider.domain,
    },
    publicUrl: url?.replace(/\/+$/, ""),
    access: { ...base.access, ...access },
    capabilityTypes,
    callers: callers.map((caller, index) => ({
      ...toCaller(caller),
      tokenDigest: tokens.callers[index] ?? Buffer.alloc(0),
    })),
    anonymous: {
      tools: anonymous.tools ?? base.anonymous.tools,
      limits: { ...base.anonymous.limits, ...anonymous.limits },
    },
    shares: shares.map(({ name, skills = allSkills }, index) => {
      return { name, tokenDigest: tokens.shares[index] ?? Buffer.alloc(0), skills };
    }),
    sources: written.sources ?? base.sources,
    limits: { ...base.limits, ...written.limits },
  };
}

function toCaller(written: Omit<z.infer<typeof callerSchema>, "token">): Omit<CallerConfig, "tokenDigest"> {
  const { name, skills = allSkills, tools, grants = [], secrets = [], limits } = written;
  return { name, skills, tools, grants, secrets, limits: { ...defaultCallerLimits, ...limits } };
}

/** Reads the settings of a remote caller, without name and token. Throws an error whose message is a sentence. */
export function readCallerSettings(name: string, settings: unknown): Omit<CallerConfig, "tokenDigest"> {
  const read = callerSchema.omit({ token: true }).safeParse({ ...(isObject(settings) ? settings : {}), name });
  if (read.success && !reservedNames.includes(name)) return toCaller(read.data);
  const [issue] = read.error?.issues ?? [];
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  throw new Error(`${where}${issue?.message ?? `the name ${name} is reserved`}`);
}

const reservedNames = ["anonymous", "local"];

/** Returns `com.example.skills` for `https://skills.example.com`; undefined for addresses and names without a dot. */
function toReverseDomain(url: string | undefined): string | undefined {
  const host = url === undefined ? "" : new URL(url).hostname.replace(/^www\./, "").replace(/\.$/, "");
  if (!host.includes(".") || isIP(host) !== 0) return undefined;
  return host.split(".").reverse().join(".");
}
