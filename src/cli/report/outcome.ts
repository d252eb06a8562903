import { type Violation, toSentences } from "../../base/failures/invalid-input.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { RunFailure, RunResult } from "../../runtime/runs.ts";
import type { Catalog } from "../../skills/skillset.ts";
import { toWireError } from "../../wire/error-table.ts";
import { jsonObject } from "./json-output.ts";
import { errorLines, jsonText, safeLines } from "./safe-text.ts";
import { shownPath } from "../../base/paths/location.ts";
import type { Terminal } from "./terminal.ts";
import { type ExitCode, exitFor } from "../exit-code.ts";
import { noSuchSkill } from "../../skills/skill.ts";

/** The catalog that locates the skills of a run, and the directory to which shown paths are relative. */
interface SkillLocations {
  readonly catalog: Pick<Catalog, "find">;
  readonly cwd: string;
}

/** Replaces paths inside the sandbox with those of the skill's own files on this machine. */
export function toOwnPaths(text: string, { catalog, cwd }: SkillLocations): string {
  return text.replace(/(?<![\w/.-])\/skills\/([a-z0-9.-]+)(?=\/)/g, (inside, name: string) => {
    const offered = catalog.find(name);
    return offered === undefined ? inside : shownPath(offered.skill.directory, cwd);
  });
}

/**
 * Describes a result for the user: status, output, and the commands that show truncated output. `isScript`: the output was printed during
 * the run.
 */
export function describeRun(result: RunResult, isScript: boolean, locations: SkillLocations): string[] {
  const { status, summary, logs_blob, run_id, duration_ms, limits_applied, output_blobs } = result;
  const { more_output_blobs: more } = result;
  const body = result.status === "failed" ? failureLines(result.error) : outputLines(result.output, isScript);
  const others = output_blobs.filter((id) => !body.some((line) => line.endsWith(readCommand(id))));
  const lines = [
    `${status === "completed" ? "✓" : "✗"} ${summary}`,
    ...body,
    ...others.map((id) => `blob: ${id}`),
    ...(more === undefined
      ? []
      : [`… and ${more.count} more blobs${more.blob_id === undefined ? "" : `; list: ${readCommand(more.blob_id)}`}`]),
    ...(logs_blob === undefined ? [] : [`full log: ${readCommand(logs_blob)}`]),
    `${run_id}: ${duration_ms} ms, sandbox ${limits_applied.isolation}`,
  ];
  return lines.map((line) => `${safeLines(toOwnPaths(line, locations))}\n`);
}

function readCommand(blob: string): string {
  return `acp-skills blobs read ${blob}`;
}

function outputLines(output: unknown, isScript: boolean): string[] {
  if (output === undefined || output === null) return [];
  if (isScript && typeof output === "object")
    return Object.entries(output).flatMap(([stream, text]) => {
      const cut = toCut(text);
      return cut === undefined ? [] : [`${stream}: ${cut.notice}`];
    });
  if (typeof output === "string") return [output];
  const cut = toCut(output);
  return cut === undefined ? [jsonText(output, 2)] : [cut.preview, cut.notice];
}

/** An output that is too long for a result and stored as a blob. */
function toCut(output: unknown): { readonly preview: string; readonly notice: string } | undefined {
  if (typeof output !== "object" || output === null || !("truncated" in output) || output.truncated !== true)
    return undefined;
  const { size_bytes, blob_id, preview } = output as Record<string, unknown>;
  const rest = typeof blob_id === "string" ? `all of it: ${readCommand(blob_id)}` : "it could not be stored";
  return { preview: String(preview), notice: `${String(size_bytes)} bytes; ${rest}` };
}

/** Fields that are already in the message, or were printed while the code ran. */
const known = new Set(["traceback", "file", "line", "hint", "exit_code", "stdout", "stderr", "started"]);

function failureLines({ type, message, details = {} }: RunFailure): string[] {
  const { traceback, hint } = details;
  const summary = `${type}: ${message}`;
  // The summary is printed already.
  const cut = (text: string): string => (text.endsWith(summary) ? text.slice(0, -summary.length) : text).trimEnd();
  const others = Object.entries(details).filter(([key]) => !known.has(key) && !/^limit|_bytes$/.test(key));
  return [
    ...(typeof traceback === "string" ? [cut(traceback)] : []),
    ...(others.length === 0 ? [] : [jsonText(Object.fromEntries(others), 2)]),
    ...(typeof hint === "string" ? [`hint: ${hint}`] : []),
  ];
}

/**
 * Reports an error: a sentence, or the error object with `--json`. An internal error is logged and reported by its id. Returns the exit
 * code.
 */
export function reportRefusal(
  error: unknown,
  { json }: { readonly json?: boolean },
  terminal: Pick<Terminal, "log" | "echo" | "note">,
): ExitCode {
  const shown = toWireError(error, { log: terminal.log });
  const { hint = "", available = [] } = shown.data;
  // Some messages already end with their hint.
  const advice = shown.message.endsWith(hint) ? [] : [hint];
  const names =
    available.length === 0 || hint.startsWith("Did you mean") ? [] : [`Available: ${available.join(", ")}.`];
  if (json === true) terminal.echo(jsonObject(shown, 0));
  else terminal.note(...errorLines([shown.message, ...advice, ...names].join(" ")));
  return exitFor(error);
}

/** Rewrites an error of the tool behind `acp-skills run NAME` to name options instead of parameters, and commands instead of tools. */
export function inWordsOfRun(error: unknown, name: string, catalog: Catalog): unknown {
  if (!isSkillsError(error) || error.code === "INTERNAL") return error;
  if (error.code === "SKILL_NOT_FOUND" && catalog.find(name) === undefined)
    return new SkillsError(error.code, noSuchSkill(name, catalog.snapshot), { cause: error });
  const { violations, hint } = error.facts;
  const own = (text: string): string =>
    toUserWords(
      words.reduce((reworded, [pattern, word]) => reworded.replace(pattern, () => word.replace("NAME", name)), text),
    );
  const message = Array.isArray(violations)
    ? toSentences(violations as Violation[], toOption).join(" ")
    : error.message;
  const facts = { ...error.facts, ...(typeof hint === "string" && { hint: own(hint) }) };
  return new SkillsError(error.code, own(message), { cause: error, facts });
}

/** The option that a parameter comes from. */
function toOption(field: string): string {
  const [, parameter = "", ...inside] = field.split("/");
  const option = options[parameter] ?? parameter;
  const dottedKey = inside.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
  return dottedKey === "" || parameter === "input_blobs" ? option : `${dottedKey} in ${option}`;
}

const options: Readonly<Record<string, string>> = {
  name: "NAME",
  args: "--args",
  script: "--script",
  input_blobs: "--blob",
  timeout_ms: "--timeout",
};

/** Sentences for models about tools, each with its equivalent for users about commands. */
const words: readonly (readonly [RegExp, string])[] = [
  [
    /Call describe_skill .*parameter script\./,
    "acp-skills show NAME prints its instructions; a file under scripts/ runs with --script PATH.",
  ],
  [/describe_skill lists them\./, "acp-skills show NAME lists them."],
  [/a blob id, as create_blob returns it/, 'a blob; pass a file with --blob, and refer to the first as "@1"'],
];

/** Phrases about the user, each with the form that addresses the user. */
const forUsers: readonly (readonly [RegExp, string])[] = [
  [/\bIf the user trusts it, they can\b/, "If you trust it, you can"],
  [/\bthe user has\b/, "you have"],
  [/\bthe user's\b/g, "your"],
  [/\bThe user\b/g, "You"],
  [/\bthe user\b/g, "you"],
  [/\bThey are asked again in this session if they write\b/, "You are asked again in this session if you write"],
];

/** Rewrites a text about the user so that it addresses the user. */
export function toUserWords(text: string): string {
  return forUsers.reduce((reworded, [pattern, words]) => reworded.replace(pattern, words), text);
}
