import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { readOptions } from "../../options.ts";
import { localOwner, openToolkit } from "../../toolkit.ts";
import type { RunResult } from "../../runs/record/run-result.ts";
import { maxTimeoutMs } from "../../runs/plan/run-limits.ts";
import { toMimeType } from "../../tools/answers/mime-type.ts";
import { grantFault } from "../arguments/grant-fault.ts";
import { inWordsOfRun } from "../report/in-words-of-run.ts";
import { onInterruption } from "../interruption.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import type { ListingOptions } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { isUsageFault } from "../arguments/parse-arguments.ts";
import type { UsageFault } from "../arguments/parse-arguments.ts";
import { printLines } from "../report/print-lines.ts";
import { readInput } from "../arguments/read-input.ts";
import type { RunningArguments } from "../arguments/running-options.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import { safeLines } from "../report/safe-text.ts";
import { tellRefusal } from "../report/tell-refusal.ts";
import type { Terminal } from "../report/terminal.ts";

export interface RunArguments extends ListingOptions, RunningArguments {
  readonly script?: string;
  readonly args?: string;
  readonly blob?: readonly string[];
  readonly timeout?: string;
  readonly "dry-run"?: boolean;
}

/** `acp-skills run NAME`: what the code prints on stderr while it runs, then the result on stdout; 1 when it failed or was refused. */
export async function runRun(name: string, given: RunArguments, terminal: Terminal): Promise<number | UsageFault> {
  const input = await readInput(given.args, "--args", () => terminal.cwd);
  if (isUsageFault(input)) return input;
  const timeout = toMilliseconds(given.timeout);
  if (timeout !== undefined && isUsageFault(timeout)) return timeout;
  const running = toRunningOptions(given, () => terminal.cwd);
  if (isUsageFault(running)) return running;
  const unreadable = (given.blob ?? []).find((file) => !isFile(resolve(terminal.cwd, file)));
  if (unreadable !== undefined) return { usageFault: `--blob ${unreadable} is not a file that can be read` };
  const { catalog, complete } = await openListing(given, terminal);
  if (!complete) return 2;
  const ungranted = grantFault(given.grant, catalog);
  if (ungranted !== undefined) return ungranted;
  if (timeout !== undefined && timeout.ms > maxTimeoutMs)
    terminal.tell(`--timeout ${timeout.ms} is more than a run may take; it has ${maxTimeoutMs} ms`);
  const log = openProcessLog();
  const toolkit = openToolkit(readOptions({ log, home: terminal.home, ...running }));
  const { signal, stop } = onInterruption();
  const printed = printLines((text) => void process.stderr.write(text));
  try {
    const blobs = await putAll(toolkit.blobs, given.blob ?? [], terminal.cwd, signal);
    const args = withBlobs(input.value, blobs, (place) => {
      terminal.tell(`${place} in --args would stand for a --blob that was not given; it is passed on as it is`);
    });
    const call = {
      name,
      args,
      ...(blobs.length > 0 && { input_blobs: blobs }),
      ...(timeout !== undefined && { timeout_ms: timeout.ms }),
      ...(given.script !== undefined && { script: given.script }),
    };
    const context = {
      owner: localOwner,
      door: "cli",
      skills: catalog,
      project: resolve(terminal.cwd, given.cwd ?? "."),
      onPrint: printed.push,
    } as const;
    if (given["dry-run"] === true) {
      await terminal.print([jsonText(await toolkit.toolbox.check("execute_skill", call, context), 2), "\n"]);
      return 0;
    }
    const called = toolkit.toolbox.call("execute_skill", call, context, signal).finally(printed.end);
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
    await toolkit.close();
  }
}

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

function toMilliseconds(text: string | undefined): { readonly ms: number } | UsageFault | undefined {
  if (text === undefined) return undefined;
  return /^[1-9]\d{0,8}$/.test(text)
    ? { ms: Number(text) }
    : { usageFault: `--timeout needs milliseconds, not ${text}` };
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
