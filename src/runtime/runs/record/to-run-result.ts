import { parseUntrustedJson } from "../../../base/json/json-value.ts";
import type { Json, RunEnd, SandboxRun } from "../../sandbox.ts";
import { defaultRunLimits, maxLogPreviewBytes, maxOutputBytes, maxReportedBlobs } from "../run-limits.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunOutcome, RunResult, RunSpec } from "../run-spec.ts";
import type { RunRecord } from "../record.ts";
import { type Mask, toPlainText, toPreview } from "./run-text.ts";
import { toRunFailure } from "./to-run-failure.ts";
import type { BlobStore } from "../../blobs.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { buffer } from "node:stream/consumers";

/** What ran, in a sandbox or elsewhere. */
export type RanProgram = Pick<SandboxRun, "runId" | "limits" | "network" | "project" | "isolation"> &
  Pick<RunSpec, "program">;

export interface RunFacts {
  readonly run: RanProgram;
  readonly spec: RunSpec;
  readonly caller: Pick<RunCaller, "owner" | "blobs">;
  readonly mask: Mask;
  readonly nestedBlobs: readonly string[];
  readonly durationMs: number;
  readonly isolation: string;
}

const longestSummary = 1000;

/**
 * The result of a run that has ended, and all blobs that it stored. What is too long for the result is stored as
 * blobs.
 */
export async function toRunResult(
  end: RunEnd,
  record: RunRecord,
  facts: RunFacts,
): Promise<{ readonly result: RunResult; readonly blobs: readonly string[] }> {
  const { run, spec, caller, durationMs, isolation, nestedBlobs } = facts;
  const { text, isCut } = await record.log();
  const logs = toPreview(text, maxLogPreviewBytes);
  const spilled: string[] = [];
  const outcome = await toOutcome(end, record, facts, async (kind, bytes) => {
    const id = await keepIfPossible(caller, kind, bytes);
    if (id !== undefined) spilled.push(id);
    return id;
  });
  const logsBlob = logs === text && !isCut ? undefined : await keepIfPossible(caller, "text/plain", Buffer.from(text));
  const own = end.type === "returned" ? await ownedOf(end.outputBlobs ?? [], caller) : [];
  const blobs = [...new Set([...record.blobs, ...nestedBlobs, ...spilled, ...own])];
  const result: RunResult = {
    ...outcome,
    run_id: run.runId,
    ...(await toOutputBlobs(blobs, [...own, ...spilled], caller)),
    logs_preview: logs,
    ...(logsBlob !== undefined && { logs_blob: logsBlob }),
    ...(spec.skill !== undefined && { version: spec.skill.version }),
    duration_ms: durationMs,
    limits_applied: {
      timeout_ms: run.limits.timeoutMs,
      memory_mb: run.limits.memoryBytes / 1024 / 1024,
      isolation,
      ...(spec.clamped && { clamped: true }),
    },
  };
  return { result, blobs };
}

/** As many ids as a result lists, first those that the program or the output names; further ones are listed in a blob. */
async function toOutputBlobs(blobs: readonly string[], named: readonly string[], caller: RunFacts["caller"]) {
  if (blobs.length <= maxReportedBlobs) return { output_blobs: [...blobs] };
  const ordered = [...new Set([...named, ...blobs])];
  const rest = ordered.slice(maxReportedBlobs);
  const blobId = await keepIfPossible(caller, "application/json", Buffer.from(JSON.stringify(rest)));
  return {
    output_blobs: ordered.slice(0, maxReportedBlobs),
    more_output_blobs: { count: rest.length, ...(blobId !== undefined && { blob_id: blobId }) },
  };
}

type Outcome = Pick<RunResult, "summary"> & RunOutcome;

/** Stores a part of the output that is too long for the result; undefined where it cannot be stored. */
type Spill = (kind: string, bytes: Uint8Array) => Promise<string | undefined>;

async function toOutcome(end: RunEnd, record: RunRecord, facts: RunFacts, spill: Spill): Promise<Outcome> {
  const isReturned = end.type === "returned";
  if (!(isReturned || (end.type === "exited" && end.exitCode === 0)) || record.refused.length > 0) {
    const error = await toRunFailure(end, record, facts);
    return { status: "failed", error, summary: toSummary(`${error.type}: ${error.message}`) };
  }
  const { mask } = facts;
  const value = isReturned ? await mask.json(end.value) : await scriptOutput(record, mask, spill);
  const output = await toOutput(value, spill);
  const given = isReturned ? end.summary : undefined;
  // Masked before it is cut: half a secret would not be found.
  const summary = toSummary(given === undefined ? `Completed.${filesIn(record)}` : mask.plain(given));
  return { status: "completed", output, summary };
}

function filesIn({ files }: RunRecord): string {
  const named = files.slice(0, 10).map(({ path, blobId }) => `${path} (${blobId})`);
  return named.length === 0 ? "" : ` Output files: ${named.join(", ")}.`;
}

/** Short, without control sequences. */
function toSummary(text: string): string {
  const plain = toPlainText(text).trim();
  const characters = Array.from(plain);
  return characters.length > longestSummary ? `${characters.slice(0, longestSummary - 1).join("")}…` : plain;
}

/** A small value as it is; a larger one as a reference to its blob. */
async function toOutput(value: Json, spill: Spill): Promise<Json> {
  const bytes = Buffer.from(JSON.stringify(value));
  if (bytes.length <= maxOutputBytes) return value;
  return await spilled(bytes, "application/json", bytes.toString("utf8"), spill);
}

const previewBytes = 1024;

async function spilled(bytes: Uint8Array, kind: string, text: string, spill: Spill): Promise<Json> {
  const blobId = await spill(kind, bytes);
  const preview = toPreview(text, previewBytes);
  return { truncated: true, ...(blobId !== undefined && { blob_id: blobId }), size_bytes: bytes.length, preview };
}

/** `{exit_code, stdout, stderr}`; where that is too long, the longer stream is stored as a blob first. */
async function scriptOutput(record: RunRecord, mask: Mask, spill: Spill): Promise<Json> {
  const streams = { stdout: record.stream("stdout").read(), stderr: record.stream("stderr").read() };
  const texts = { stdout: await mask.longPlain(streams.stdout), stderr: await mask.longPlain(streams.stderr) };
  const output: Record<string, Json> = { exit_code: 0, ...texts };
  const longestFirst = (["stdout", "stderr"] as const).toSorted((a, b) => streams[b].length - streams[a].length);
  for (const name of longestFirst) {
    if (isShort(output)) break;
    output[name] = await spilled(streams[name], "text/plain", texts[name], spill);
  }
  return output;
}

/** Without serialising what is long. */
function isShort(output: Record<string, Json>): boolean {
  const isLong = Object.values(output).some((value) => typeof value === "string" && value.length > maxOutputBytes);
  return !isLong && Buffer.byteLength(JSON.stringify(output)) <= maxOutputBytes;
}

/** A full store must not take the result away from a run that has ended: the preview in its place says that there was more. */
async function keepIfPossible({ blobs, owner }: RunFacts["caller"], kind: string, bytes: Uint8Array) {
  try {
    return (await blobs.put(owner, kind, bytes)).id;
  } catch {
    return undefined;
  }
}

/** The ids that a program returned as its output, as far as the caller can read them. */
async function ownedOf(ids: readonly string[], { blobs, owner }: RunFacts["caller"]): Promise<string[]> {
  const found = await Promise.all(ids.slice(0, 256).map((id) => blobs.stat(owner, id).catch(nothing)));
  return found.flatMap((blob) => blob?.id ?? []);
}

const nothing = (): undefined => undefined;

/** The longest output that a result has in it for readers on other machines: as much as a run may return. */
export const maxWholeOutputBytes = defaultRunLimits.resultBytes;

/**
 * The result of a run as JSON, with the whole output where that was stored as a blob: a reader on another machine could not read the blob.
 * An output of more than `maxWholeOutputBytes`, or one that is no longer stored, stays a reference.
 */
export async function writeWholeResult(
  result: Readonly<Record<string, unknown>>,
  { owner, blobs }: { readonly owner: string; readonly blobs: Pick<BlobStore, "stat" | "read"> },
  signal: AbortSignal,
): Promise<Buffer> {
  const asGiven = (): Buffer => Buffer.from(JSON.stringify(result));
  const { output, output_blobs: listed } = result;
  const id = storedOutput(output);
  // A program may return what looks like a reference; only blobs of this run are read.
  if (id === undefined || !Array.isArray(listed) || !listed.includes(id)) return asGiven();
  try {
    const { size, kind } = await blobs.stat(owner, id);
    if (size > maxWholeOutputBytes || kind !== "application/json") return asGiven();
    const value = parseUntrustedJson(await buffer(blobs.read(owner, id)));
    signal.throwIfAborted();
    const others = listed.filter((other) => other !== id);
    return Buffer.from(JSON.stringify({ ...result, output: value, output_blobs: others }));
  } catch (error) {
    // Expired, removed, damaged, or a blob of the program's own that is not JSON.
    signal.throwIfAborted();
    if (isSkillsError(error) || error instanceof SyntaxError) return asGiven();
    throw error;
  }
}

/** The blob that holds an output which was too long for the result. */
export function storedOutput(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null) return undefined;
  const { truncated, blob_id: id } = output as { readonly truncated?: unknown; readonly blob_id?: unknown };
  return truncated === true && typeof id === "string" ? id : undefined;
}
