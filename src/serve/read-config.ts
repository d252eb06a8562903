import path from "node:path";
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
import { type KnownKeys, toSchemaFaults } from "../base/json/schema-faults.ts";
import { readGuardedFile } from "../base/paths/read-guarded-file.ts";
import { type WrittenConfig, configLimits, configSchema } from "./config/config-schema.ts";
import { readTokens } from "./config/read-tokens.ts";
import type { ServeConfig } from "./config.ts";
import { toServeConfig } from "./config/to-serve-config.ts";

type ConfigProblem = FileProblem<
  | "config-unreadable"
  | "config-syntax"
  | "config-key-unknown"
  | "config-key-missing"
  | "config-key-duplicate"
  | "config-value-invalid"
  | "config-token-invalid"
>;

/** A configuration file, read. */
export interface ReadConfig {
  /** Undefined if there is an error. */
  readonly config?: ServeConfig;
  /** Absolute directories of skills. */
  readonly skills: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** A line of the text for people, numbered from 1, with what may be a token masked. */
  readonly sourceLine: (line: number) => string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

type Report = (
  code: ConfigProblem["code"],
  place: { readonly offset: number; readonly end: number },
  message: string,
  fix: string,
) => void;

/** Problems after these are not reported. */
const maxProblems = 50;

/** Reads the file of `--config`, which only this user and root may be able to change. */
export function readConfigFile(file: string, env: Environment): ReadConfig {
  const read = readGuardedFile(file, { maxBytes: configLimits.bytes, of: "user" });
  if ("text" in read) return readServeConfig(file, read.text, env);
  const { fault: message, fix } = read;
  const problem = { code: "config-unreadable", severity: "error", file, line: 1, column: 1, message, fix } as const;
  return { skills: [], problems: [problem], sourceLine: () => undefined };
}

/** Reads and validates the text of a configuration. `file` is absolute; tokens that `env` holds are hashed at once. */
export function readServeConfig(file: string, content: string, env: Environment): ReadConfig {
  const text = content.replace(/^\uFEFF/, "");
  const problems: ConfigProblem[] = [];
  const report: Report = (code, place, message, fix) => {
    const problem = { code, severity: "error", file, ...rangeOf(text, place), message, fix } as const;
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
  const at = (place: JsonPath): JsonNode => nodeAt(root, place);
  checkNames(written, (place, message, fix) => {
    report("config-value-invalid", at(place), message, fix);
  });
  const tokens = readTokens(written, env, (place, message, fix) => {
    report("config-token-invalid", at(place), message, fix);
  });
  if (problems.length > 0) return { skills: [], problems, sourceLine };
  const skills = (written.skills ?? []).map((directory) => path.resolve(path.dirname(file), directory));
  return { config: toServeConfig(written, tokens), skills, problems, sourceLine };
}

function checkForm(root: JsonNode, report: Report): WrittenConfig | undefined {
  const checked = configSchema.safeParse(valueOf(root));
  if (checked.success) return checked.data;
  const known = (): KnownKeys => configSchema.toJSONSchema({ io: "input" }) as KnownKeys;
  for (const { kind, place, message, fix } of toSchemaFaults(checked.error.issues, root, known))
    report(`config-${kind}`, place, message, fix);
  return undefined;
}

/** What a schema does not see: names that occur twice or are taken, and limits that contradict each other. */
function checkNames(
  { callers = [], shares = [], limits = {} }: WrittenConfig,
  report: (place: JsonPath, message: string, fix: string) => void,
): void {
  for (const [list, named] of [
    ["callers", callers],
    ["shares", shares],
  ] as const) {
    // prettier-ignore
    const seen = new Set(["anonymous", "local"]);
    for (const [index, { name }] of named.entries()) {
      const isFirst = named.findIndex((one) => one.name === name) === index;
      if (seen.has(name))
        report(
          [list, index, "name"],
          `the name ${name} is ${isFirst ? "reserved" : "used twice"}`,
          "Use another name.",
        );
      seen.add(name);
    }
  }
  const { headerSeconds = 0, requestSeconds = Infinity } = limits;
  if (headerSeconds > requestSeconds)
    report(["limits", "headerSeconds"], "headerSeconds is longer than requestSeconds", "Make it at most as long.");
}

/** Text of a configuration without what may be a token: long words, and all that a key with "token" in its name has. */
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
