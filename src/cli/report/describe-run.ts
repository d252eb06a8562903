import type { RunFailure, RunResult } from "../../runs/record/run-result.ts";
import { jsonText } from "./json-text.ts";
import { safeLines } from "./safe-text.ts";
import { shownPath } from "./shown-path.ts";

/** Returns the directory of a skill by the name it is mounted as. */
export type FindDirectory = (skill: string) => string | undefined;

/** Replaces paths inside the sandbox with those of the skill's own files on this machine. */
export function toOwnPaths(text: string, findDirectory: FindDirectory, cwd: string): string {
  return text.replace(/(?<![\w/.-])\/skills\/([a-z0-9.-]+)(?=\/)/g, (inside, skill: string) => {
    const directory = findDirectory(skill);
    return directory === undefined ? inside : shownPath(directory, cwd);
  });
}

interface Shown {
  /** The output of a script was printed while it ran. */
  readonly isScript: boolean;
  readonly findDirectory: FindDirectory;
  readonly cwd: string;
}

/** Human-readable text for a result: status, output, and the commands that show truncated parts. */
export function describeRun(result: RunResult, { isScript, findDirectory, cwd }: Shown): string[] {
  const { status, summary, logs_blob, run_id, duration_ms, limits_applied, output_blobs } = result;
  const { more_output_blobs: more } = result;
  const lines = [
    `${status === "completed" ? "✓" : "✗"} ${summary}`,
    ...(result.status === "failed" ? failureLines(result.error) : outputLines(result.output, isScript)),
    ...output_blobs.map((id) => `blob: ${id}`),
    ...(more === undefined
      ? []
      : [`… and ${more.count} more blobs${more.blob_id === undefined ? "" : `; list: ${readCommand(more.blob_id)}`}`]),
    ...(logs_blob === undefined ? [] : [`full log: ${readCommand(logs_blob)}`]),
    `${run_id}: ${duration_ms} ms, sandbox ${limits_applied.isolation}`,
  ];
  return lines.map((line) => `${safeLines(toOwnPaths(line, findDirectory, cwd))}\n`);
}

function readCommand(blob: string): string {
  return `acp-skills blobs read ${blob}`;
}

function outputLines(output: unknown, isScript: boolean): string[] {
  if (output === undefined || output === null) return [];
  if (isScript && typeof output === "object")
    return Object.entries(output).flatMap(([stream, text]) => {
      const cut = toCut(text);
      return cut === undefined ? [] : [`${stream}: ${cut.told}`];
    });
  if (typeof output === "string") return [output];
  const cut = toCut(output);
  return cut === undefined ? [jsonText(output, 2)] : [cut.preview, cut.told];
}

/** An output that is too long for a result and stored as a blob (CONTRACT C-5.1). */
function toCut(output: unknown): { readonly preview: string; readonly told: string } | undefined {
  if (typeof output !== "object" || output === null || !("truncated" in output) || output.truncated !== true)
    return undefined;
  const { size_bytes, blob_id, preview } = output as Record<string, unknown>;
  const rest = typeof blob_id === "string" ? `all of it: ${readCommand(blob_id)}` : "it could not be stored";
  return { preview: String(preview), told: `${String(size_bytes)} bytes; ${rest}` };
}

/** Fields that are already in the message, or were printed while the code ran. */
const known = new Set(["traceback", "file", "line", "hint", "exit_code", "stdout", "stderr", "started"]);

function failureLines({ type, message, details = {} }: RunFailure): string[] {
  const { traceback, hint } = details;
  const others = Object.entries(details).filter(([key]) => !known.has(key) && !/^limit|_bytes$/.test(key));
  return [
    ...(typeof traceback === "string" ? [withoutEnd(traceback, `${type}: ${message}`)] : []),
    ...(others.length === 0 ? [] : [jsonText(Object.fromEntries(others), 2)]),
    ...(typeof hint === "string" ? [`hint: ${hint}`] : []),
  ];
}

/** Drops the last line of the traceback, which the summary before it repeats. */
function withoutEnd(traceback: string, end: string): string {
  return (traceback.endsWith(end) ? traceback.slice(0, -end.length) : traceback).trimEnd();
}
