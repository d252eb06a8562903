import type { Json, RunEnd, RunError } from "../../sandbox/sandbox.ts";
import { writeJson } from "../../sandbox/frames/json.ts";
import { runInSlices } from "../../base/slices.ts";
import { toPlainText, toPreview } from "./plain-text.ts";
import { failureHint } from "./failure-hint.ts";
import type { RunRecord } from "./run-recorder.ts";
import type { RunFailure } from "./run-result.ts";
import type { RunFacts } from "./to-run-result.ts";

const longestMessage = 2000;
const longestType = 128;
const maxDetailBytes = 4096;
/** Bytes; as JSON it may be twice as long and still fit. */
const longestTraceback = 1900;
const sliceMs = 3;
const mebibyte = 1024 * 1024;

/** Why a run failed (CONTRACT C-5.1, C-5.7); undefined when it did not. */
export async function toRunFailure(
  end: RunEnd,
  record: RunRecord,
  { run, mask }: RunFacts,
): Promise<RunFailure | undefined> {
  const { limits } = run;
  switch (end.type) {
    case "returned":
      return refusedFiles(record);
    case "raised":
      return withHint(await toFailure(await mask.error(toLimitError(end.error, limits.memoryBytes))), run);
    case "exited":
      return end.exitCode === 0
        ? refusedFiles(record)
        : withHint(await toScriptFailure(end.exitCode, record, mask), run);
    case "limit":
      return toLimitFailure(end.limit, run.limits);
    case "crashed":
      return await toFailure({ type: "SandboxCrashError", message: mask.plain(end.detail) });
    case "cancelled":
      return await toFailure({ type: "CancelledError", message: "The run was cancelled." });
  }
}

function toLimitFailure(
  limit: Extract<RunEnd, { type: "limit" }>["limit"],
  limits: RunFacts["run"]["limits"],
): RunFailure {
  switch (limit) {
    case "timeout":
      return {
        type: "TimeoutError",
        code: "EXECUTION_TIMEOUT",
        message: `The run timed out after ${limits.timeoutMs} ms.`,
        details: { limit_ms: limits.timeoutMs, started: true },
      };
    case "memory":
      return memoryFailure(limits.memoryBytes);
    case "processes":
      return {
        type: "ProcessLimitError",
        message: `The run started more than ${limits.processes} processes and was stopped.`,
        details: { limit: limits.processes },
      };
    case "disk":
      return diskFailure();
    case "output":
      return {
        type: "OutputLimitError",
        message: "The run printed or returned more than the limit and was stopped.",
        details: { printed_bytes: limits.printedBytes, result_bytes: limits.resultBytes },
      };
  }
}

/** A limit that the code inside ran into itself gets the name of that limit. */
function toLimitError(error: RunError, memoryBytes: number): RunError {
  if (error.type === "MemoryError") return memoryFailure(memoryBytes);
  if (error.type === "OSError" && /No space left|quota exceeded/i.test(error.message)) return diskFailure();
  return error;
}

function memoryFailure(memoryBytes: number): { type: string; message: string; details: { limit_mb: number } } {
  const limit = memoryBytes / mebibyte;
  return {
    type: "MemoryLimitError",
    message: `The run exceeded its memory limit of ${limit} MiB.`,
    details: { limit_mb: limit },
  };
}

function diskFailure(): { type: string; message: string } {
  return { type: "DiskLimitError", message: "The run exceeded its disk limit: too many files, or too large ones." };
}

async function toFailure({ type, message, details }: RunError): Promise<RunFailure> {
  const shown = details && (await fitDetails(details));
  return {
    type: toPlainText(type).slice(0, longestType) || "Error",
    message: toPreview(toPlainText(message), longestMessage),
    ...(shown && { details: { ...shown } }),
  };
}

/** A traceback that is too long keeps its beginning and end; other details that are too long are left out. */
async function fitDetails(details: NonNullable<RunError["details"]>): Promise<RunError["details"]> {
  const fits = async (value: Json): Promise<boolean> => (await inSlices(value)).length <= maxDetailBytes;
  if (await fits(details)) return details;
  const { traceback } = details;
  if (typeof traceback !== "string") return undefined;
  const shortened = { ...details, traceback: toPreview(traceback, longestTraceback) };
  return (await fits(shortened)) ? shortened : undefined;
}

function withHint(failure: RunFailure, run: RunFacts["run"]): RunFailure {
  const { type, message, details = {} } = failure;
  const hint = failureHint([`${type}: ${message}`, details["stderr"]].join("\n"), run);
  return hint === undefined ? failure : { ...failure, details: { ...details, hint } };
}

function inSlices(value: Json): Promise<Buffer> {
  return runInSlices(writeJson(value), { now: () => performance.now(), slice: sliceMs });
}

async function toScriptFailure(exitCode: number, record: RunRecord, mask: RunFacts["mask"]): Promise<RunFailure> {
  const shown = async (name: "stdout" | "stderr"): Promise<string> =>
    toPreview(await mask.longPlain(record.stream(name).read()), 1024);
  return {
    type: "ScriptError",
    message: `The script exited with code ${exitCode}.`,
    details: { exit_code: exitCode, stdout: await shown("stdout"), stderr: await shown("stderr") },
  };
}

/** A completed run would hide that an output file was lost. */
function refusedFiles({ refused }: RunRecord): RunFailure | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  return {
    type: "OutputLimitError",
    message: `The output file ${JSON.stringify(toPlainText(first.path))} could not be stored: ${first.why}`,
    details: { files: refused.slice(0, 10).map(({ path, why }) => ({ path: toPlainText(path), why })) },
  };
}
