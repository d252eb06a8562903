import type { RunEnd, RunError } from "../../sandbox/sandbox.ts";
import { toPlainText, toPreview } from "./plain-text.ts";
import type { RunRecord } from "./run-recorder.ts";
import type { RunFailure } from "./run-result.ts";
import type { RunFacts } from "./to-run-result.ts";

const longestMessage = 2000;
const longestType = 128;
const maxDetailBytes = 4096;
const mebibyte = 1024 * 1024;

/** Why a run failed (CONTRACT C-5.1, C-5.7); undefined when it did not. */
export function toRunFailure(end: RunEnd, record: RunRecord, { run, mask }: RunFacts): RunFailure | undefined {
  const { limits } = run;
  switch (end.type) {
    case "returned":
      return refusedFiles(record);
    case "raised":
      return toFailure(mask.error(toLimitError(end.error, limits.memoryBytes)));
    case "exited":
      return end.exitCode === 0 ? refusedFiles(record) : toScriptFailure(end.exitCode, record, mask);
    case "limit":
      return toLimitFailure(end.limit, run.limits);
    case "crashed":
      return toFailure({ type: "SandboxCrashError", message: mask.plain(end.detail) });
    case "cancelled":
      return toFailure({ type: "CancelledError", message: "The run was cancelled." });
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
        message: `The run took longer than ${limits.timeoutMs} ms, and was ended.`,
        details: { limit_ms: limits.timeoutMs, started: true },
      };
    case "memory":
      return memoryFailure(limits.memoryBytes);
    case "processes":
      return {
        type: "ProcessLimitError",
        message: `The run started more than ${limits.processes} processes, and was ended.`,
        details: { limit: limits.processes },
      };
    case "disk":
      return diskFailure();
    case "output":
      return {
        type: "OutputLimitError",
        message: "The run printed or returned more than it may, and was ended.",
        details: { printed_bytes: limits.printedBytes, result_bytes: limits.resultBytes },
      };
  }
}

/** What the code inside noticed itself of a limit gets the name of that limit. */
function toLimitError(error: RunError, memoryBytes: number): RunError {
  if (error.type === "MemoryError") return memoryFailure(memoryBytes);
  if (error.type === "OSError" && /No space left|quota exceeded/i.test(error.message)) return diskFailure();
  return error;
}

function memoryFailure(memoryBytes: number): { type: string; message: string; details: { limit_mb: number } } {
  const limit = memoryBytes / mebibyte;
  return {
    type: "MemoryLimitError",
    message: `The run needed more than ${limit} MiB of memory.`,
    details: { limit_mb: limit },
  };
}

function diskFailure(): { type: string; message: string } {
  return { type: "DiskLimitError", message: "The run wrote more files, or larger ones, than it may." };
}

function toFailure({ type, message, details }: RunError): RunFailure {
  const isSmall = details !== undefined && Buffer.byteLength(JSON.stringify(details)) <= maxDetailBytes;
  return {
    type: toPlainText(type).slice(0, longestType) || "Error",
    message: toPreview(toPlainText(message), longestMessage),
    ...(isSmall && { details: { ...details } }),
  };
}

function toScriptFailure(exitCode: number, record: RunRecord, mask: RunFacts["mask"]): RunFailure {
  const shown = (name: "stdout" | "stderr"): string =>
    toPreview(mask.plain(record.stream(name).read().toString("utf8")), 1024);
  return {
    type: "ScriptError",
    message: `The script ended with exit code ${exitCode}.`,
    details: { exit_code: exitCode, stdout: shown("stdout"), stderr: shown("stderr") },
  };
}

/** A file that could not be kept is a loss that a completed run would hide. */
function refusedFiles({ refused }: RunRecord): RunFailure | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  return {
    type: "OutputLimitError",
    message: `The output file ${JSON.stringify(toPlainText(first.path))} could not be kept: ${first.why}`,
    details: { files: refused.slice(0, 10).map(({ path, why }) => ({ path: toPlainText(path), why })) },
  };
}
