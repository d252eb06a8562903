import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { readOptions } from "../../options.ts";
import { openApp } from "../../app.ts";
import { createCaller, localOwner } from "../../caller.ts";
import { onPrinted } from "../../runs/run-event.ts";
import type { RunResult } from "../../runs/record/run-result.ts";
import { maxTimeoutMs } from "../../runs/plan/run-limits.ts";
import { toMimeType } from "../../tools/answers/mime-type.ts";
import { refuseUnknownGrants } from "../arguments/refuse-unknown-grants.ts";
import { cwd, json, notes, roots, running } from "../arguments/shared-options.ts";
import { defineCommand, usageError } from "../command.ts";
import { inWordsOfRun } from "../report/in-words-of-run.ts";
import { onInterruption } from "../interruption.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { printLines } from "../report/print-lines.ts";
import { readInput } from "../arguments/read-input.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import { safeLines } from "../report/safe-text.ts";
import { tellRefusal } from "../report/tell-refusal.ts";

export const run = defineCommand({
  usage: "run NAME [options]",
  positionals: { name: "NAME", minimum: 1, maximum: 1 },
  options: {
    script: { type: "string", value: "PATH", help: "Run this file of the skill, such as scripts/extract.py." },
    args: {
      type: "string",
      value: "JSON",
      help: "Arguments as a JSON object, @FILE for a file that contains it, or - for stdin. Default: {}.",
    },
    blob: { type: "string", multiple: true, value: "FILE", help: "Pass FILE to the run as a blob. Repeatable." },
    timeout: { type: "string", value: "MS", help: "Milliseconds it may take, up to 600000. Default: 30000." },
    "dry-run": { type: "boolean", help: "Check everything and print what would be run, but run nothing." },
    ...running,
    ...roots,
    cwd,
    json,
  },
  examples: [`run rows.clean --args '{"sheet": "@1"}' --blob rows.csv`],
  notes: [
    "Output of the code appears on stderr while it runs; the result is printed on stdout.",
    'In --args, the string "@1" stands for the first --blob, "@2" for the second.',
    'With --script, --args is {"argv": ["--in", "x"], "stdin": "…"}.',
    notes.sandbox,
    notes.secrets,
    "Exits with 1 if the run fails or is refused, with 130 if it is interrupted.",
    notes.roots,
    notes.data,
  ],
  async run({ options: given, positionals: [name = ""] }, terminal) {
    const input = await readInput(given.args, "--args", () => terminal.cwd);
    const timeout = toMilliseconds(given.timeout);
    const runningOptions = toRunningOptions(given, () => terminal.cwd);
    const unreadable = (given.blob ?? []).find((file) => !isFile(resolve(terminal.cwd, file)));
    if (unreadable !== undefined) throw usageError(`--blob ${unreadable} is not a file that can be read`);
    const { catalog, complete } = await openListing(given, terminal);
    if (!complete) return 2;
    refuseUnknownGrants(given.grant, catalog);
    if (timeout !== undefined && timeout.ms > maxTimeoutMs)
      terminal.tell(`--timeout ${timeout.ms} is more than a run may take; it has ${maxTimeoutMs} ms`);
    const log = openProcessLog();
    const app = openApp(readOptions({ log, ...runningOptions }, { home: terminal.home }));
    const { signal, stop } = onInterruption();
    const printed = printLines((text) => void process.stderr.write(text));
    try {
      const blobs = await putAll(app.blobs, given.blob ?? [], terminal.cwd, signal);
      const args = withBlobs(input, blobs, (place) => {
        terminal.tell(`${place} in --args would stand for a --blob that was not given; it is passed on as it is`);
      });
      const call = {
        name,
        args,
        ...(blobs.length > 0 && { input_blobs: blobs }),
        ...(timeout !== undefined && { timeout_ms: timeout.ms }),
        ...(given.script !== undefined && { script: given.script }),
      };
      const session = { catalog, directory: resolve(terminal.cwd, given.cwd ?? ".") };
      const caller = createCaller(session, { door: "cli", onEvent: onPrinted(printed.push) });
      if (given["dry-run"] === true) {
        await terminal.print([jsonText(await app.toolbox.check("execute_skill", call, caller), 2), "\n"]);
        return 0;
      }
      const called = app.toolbox.call("execute_skill", call, caller, signal).finally(printed.end);
      const result = (await called) as RunResult;
      const { clamped, timeout_ms } = result.limits_applied;
      if (clamped === true && timeout !== undefined && timeout.ms <= maxTimeoutMs)
        terminal.tell(`--timeout ${timeout.ms} is more than the skill allows itself; it had ${timeout_ms} ms`);
      await terminal.print(given.json === true ? [jsonText(result, 2), "\n"] : describeResult(result));
      return result.status === "completed" ? 0 : 1;
    } catch (error) {
      if (signal.aborted) {
        terminal.tell("interrupted; the run was ended");
        return 130;
      }
      tellRefusal(given.json === true ? error : inWordsOfRun(error, name), given, { terminal, log });
      return 1;
    } finally {
      stop();
      await app.close();
    }
  },
});

/** The result for a person: how it ended, its output, and where the rest is. */
function describeResult(result: RunResult): string[] {
  const { status, summary, output, error, logs_blob, run_id, duration_ms, limits_applied } = result;
  const { output_blobs, more_output_blobs: more } = result;
  const lines = [
    `${status === "completed" ? "✓" : "✗"} ${summary}`,
    ...(output === undefined || output === null ? [] : [typeof output === "string" ? output : jsonText(output, 2)]),
    ...(error?.details === undefined ? [] : [jsonText(error.details, 2)]),
    ...output_blobs.map((id) => `made ${id}`),
    ...(more === undefined
      ? []
      : [`made ${more.count} more${more.blob_id === undefined ? "" : `, listed in ${more.blob_id}`}`]),
    ...(logs_blob === undefined ? [] : [`the whole log is ${logs_blob}`]),
    `${run_id}, ${duration_ms} ms, isolated by ${limits_applied.isolation}`,
  ];
  return lines.map((line) => `${safeLines(line)}\n`);
}

function toMilliseconds(text: string | undefined): { readonly ms: number } | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--timeout needs milliseconds, not ${text}`);
  return { ms: Number(text) };
}

function isFile(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false; // Told to the person.
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

/** `@1` in an argument stands for the first blob; `onMissing` is told of one that stands for none. */
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
