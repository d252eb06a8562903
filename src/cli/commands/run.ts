import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "../../base/log.ts";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { localOwner } from "../../caller.ts";
import { maxTimeoutMs } from "../../runs/plan/run-limits.ts";
import type { RunResult } from "../../runs/record/run-result.ts";
import type { Catalog } from "../../skills/catalog.ts";
import { toMimeType } from "../../skills/files/mime-type.ts";
import { parseDuration } from "../arguments/parse-duration.ts";
import { readInput } from "../arguments/read-input.ts";
import { cwd, json, notes, roots, running } from "../arguments/shared-options.ts";
import { callTools } from "../call-tools.ts";
import type { Tools } from "../call-tools.ts";
import { defineCommand, usageError } from "../command.ts";
import type { OptionValues } from "../command.ts";
import { describeRun, toOwnPaths } from "../report/describe-run.ts";
import { jsonText } from "../report/json-text.ts";
import { inWordsOfRun, tellRefusal } from "../report/tell-refusal.ts";
import type { Terminal } from "../report/terminal.ts";

const options = {
  script: { type: "string", value: "PATH", help: "Run this file of the skill, such as scripts/extract.py." },
  args: {
    type: "string",
    value: "JSON",
    help: "Arguments as a JSON object, @FILE for a file that contains it, or - for stdin. Default: {}.",
  },
  blob: { type: "string", multiple: true, value: "FILE", help: "Pass FILE to the run as a blob. Repeatable." },
  timeout: {
    type: "string",
    value: "DURATION",
    help: "The run may take this long, such as 500ms, 10s or 2m; at most 10m. Default: 30s.",
  },
  "dry-run": { type: "boolean", help: "Check everything and print what would be run, but run nothing." },
  ...running,
  ...roots,
  cwd,
  json,
} as const;

export const run = defineCommand({
  usage: "run NAME [options] [-- ARG…]",
  positionals: { name: "NAME", minimum: 1, maximum: 1 },
  takesRest: true,
  options,
  examples: [
    `run rows.clean --args '{"table": "@1"}' --blob rows.csv`,
    "run pdf --script scripts/extract.py -- --pages 1-3",
  ],
  notes: [
    "Output of the code appears on stderr while it runs; the result is printed on stdout.",
    'In --args, the string "@1" stands for the first --blob, "@2" for the second.',
    'The words after -- are the arguments of --script. Its stdin is given by --args \'{"stdin": "…"}\'.',
    "acp-skills show NAME lists the inputs and permissions of a skill.",
    notes.sandbox,
    notes.secrets,
    "Exits with 1 if the run fails or is refused, with 130 if it is interrupted.",
    notes.roots,
    notes.data,
  ],
  async run({ options: given, positionals: [name = ""], rest }, terminal) {
    const args = withWords(await readInput(given.args, "--args", () => terminal.cwd), rest, given.script);
    const timeoutMs = given.timeout === undefined ? undefined : parseDuration("--timeout", given.timeout);
    const unreadable = (given.blob ?? []).find((file) => !isFile(resolve(terminal.cwd, file)));
    if (unreadable !== undefined) throw usageError(`--blob ${unreadable}: no such file, or it cannot be read`);
    const calling = {
      rewrite: (text: string, catalog: Catalog) => toOwnPaths(text, directoryIn(catalog), terminal.cwd),
      refuse: (error: unknown, log: Log) =>
        tellRefusal(given.json === true ? error : inWordsOfRun(error, name), given, { terminal, log }),
    };
    return await callTools(given, terminal, calling, async (tools) => {
      const input = await toInput({ name, args, timeoutMs, given }, tools, terminal);
      if (given["dry-run"] === true) {
        const plan = await tools.app.toolbox.check("execute_skill", input, tools.caller);
        await terminal.print([jsonText(plan, 2), "\n"]);
        return 0;
      }
      const result = (await tools.call("execute_skill", input)) as RunResult;
      tellTimeout(timeoutMs, result, terminal);
      const isScript = given.script !== undefined;
      const shown = { isScript, findDirectory: directoryIn(tools.catalog), cwd: terminal.cwd };
      await terminal.print(given.json === true ? [jsonText(result, 2), "\n"] : describeRun(result, shown));
      return result.status === "completed" ? 0 : 1;
    });
  },
});

/** The input of `execute_skill`, with the files of `--blob` stored. */
async function toInput(
  wanted: {
    readonly name: string;
    readonly args: unknown;
    readonly timeoutMs: number | undefined;
    readonly given: OptionValues<typeof options>;
  },
  { app, signal }: Tools,
  terminal: Terminal,
): Promise<object> {
  const { name, timeoutMs, given } = wanted;
  const blobs = await putAll(app.blobs, given.blob ?? [], terminal.cwd, signal);
  const args = withBlobs(wanted.args, blobs, (place) =>
    terminal.tell(`${place} in --args refers to a --blob that was not given; it is passed on as text`),
  );
  return {
    name,
    args,
    ...(blobs.length > 0 && { input_blobs: blobs }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(given.script !== undefined && { script: given.script }),
  };
}

/** The words after `--` as the arguments of a script. */
function withWords(args: unknown, words: readonly string[] | undefined, script: string | undefined): unknown {
  if (words === undefined) return args;
  if (script === undefined)
    throw usageError("words after -- are the arguments of a script; name it with --script PATH");
  if (typeof args !== "object" || args === null || "argv" in args)
    throw usageError("arguments of the script are given in --args and after --; use one of the two");
  return { ...args, argv: words };
}

function directoryIn(catalog: Catalog): (skill: string) => string | undefined {
  return (skill) => catalog.find(skill)?.skill.directory;
}

function tellTimeout(timeoutMs: number | undefined, { limits_applied }: RunResult, terminal: Terminal): void {
  if (timeoutMs === undefined || limits_applied.clamped !== true) return;
  const whose = timeoutMs > maxTimeoutMs ? "the limit" : "the limit of the skill";
  terminal.tell(`--timeout ${timeoutMs} ms is above ${whose}; the run had ${limits_applied.timeout_ms} ms`);
}

function isFile(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false; // The caller reports it.
  }
}

async function putAll(
  blobs: BlobStore,
  files: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const file of files) {
    const { id } = await blobs.put(localOwner, toMimeType(file), createReadStream(resolve(cwd, file)), { signal });
    ids.push(id);
  }
  return ids;
}

/** Replaces `@1` in an argument with the id of the first blob; calls `onMissing` if there is no such blob. */
function withBlobs(value: unknown, blobs: readonly string[], onMissing: (place: string) => void): unknown {
  if (typeof value === "string") {
    const [, number] = /^@([1-9]\d?)$/.exec(value) ?? [];
    if (number === undefined) return value;
    const blob = blobs[Number(number) - 1];
    if (blob === undefined) onMissing(JSON.stringify(value));
    return blob ?? value;
  }
  if (Array.isArray(value)) return value.map((inner) => withBlobs(inner, blobs, onMissing));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBlobs(inner, blobs, onMissing)]));
}
