import { isSkillsError } from "../../base/errors.ts";
import { toMimeType } from "../../skills/files.ts";
import type { RunStep } from "../../wire/run-event.ts";
import type { StoredBlob } from "../blobs.ts";
import { parseBlobKind, quotaExceeded } from "../blobs/blob-rules.ts";
import type { Json, RunEnd, RunHost, SandboxRun } from "../sandbox.ts";
import { BoundedBytes, type Mask, createLineBatcher, toPlainText, toPreview } from "./record/run-text.ts";
import { toRunFailure } from "./record/to-run-failure.ts";
import type { RunCaller } from "./run-caller.ts";
import { maxLogBytes, maxLogPreviewBytes, maxOutputBytes, maxReportedBlobs } from "./run-limits.ts";
import type { RunOutcome, RunResult, RunSpec } from "./run-spec.ts";

export { writeWholeResult } from "./record/whole-result.ts";

/** The program that ran, in a sandbox or elsewhere, with its limits and permissions. */
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

/**
 * Passes content on to `put` and counts its bytes: the blobs of a run and of the skills that it calls are limited together. Throws
 * QUOTA_EXCEEDED beyond the budget; content that was not stored does not count.
 */
export type BlobBudget = (
  content: AsyncIterable<Uint8Array>,
  put: (content: AsyncIterable<Uint8Array>) => Promise<StoredBlob>,
) => Promise<StoredBlob>;

export function createBlobBudget(limits: { readonly maxBytes: number; readonly maxBlobs: number }): BlobBudget {
  const { maxBytes, maxBlobs } = limits;
  let bytes = 0;
  let blobs = 0;
  return async (content, put) => {
    if (blobs >= maxBlobs) throw quotaExceeded("run", limits);
    blobs += 1;
    let counted = 0;
    async function* count(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        counted += chunk.length;
        bytes += chunk.length;
        if (bytes > maxBytes) throw quotaExceeded("run", limits);
        yield chunk;
      }
    }
    try {
      return await put(count());
    } catch (error) {
      blobs -= 1;
      bytes -= counted;
      throw error;
    }
  };
}

/** The record of a running program: the text that it prints, and the blobs and files that it makes. */
export interface RunRecord {
  readonly host: RunHost;
  /** Everything printed, in order of arrival; masked. Ends the recording. */
  readonly log: () => Promise<{ readonly text: string; readonly isCut: boolean }>;
  /** The bytes that a script printed to a stream; masked. */
  readonly stream: (name: "stdout" | "stderr") => BoundedBytes;
  /** Blob ids, in order of creation. */
  readonly blobs: readonly string[];
  /** Output files that were stored. Their paths are masked, and so are those of `refused`. */
  readonly files: readonly { readonly path: string; readonly blobId: string }[];
  /** Output files that could not be stored, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

/** The maximum bytes that are recorded of each stream of a script; of a longer stream, the middle is dropped. */
const maxStreamBytes = 8 * 1024 * 1024;

export function recordRun(
  options: Pick<RunFacts, "spec" | "caller" | "mask"> & {
    readonly callSkill: RunHost["callSkill"];
    readonly budget: BlobBudget;
    readonly notify: (step: RunStep) => void;
  },
): RunRecord {
  const { spec, caller, mask, callSkill, budget, notify } = options;
  const { owner, blobs: store } = caller;
  const printed = new BoundedBytes(maxLogBytes);
  const scriptStreams = { stdout: new BoundedBytes(maxStreamBytes), stderr: new BoundedBytes(maxStreamBytes) };
  const masked = { stdout: mask.stream(), stderr: mask.stream() };
  const batcher = createLineBatcher((text) => notify({ type: "printed", text: mask.text(text) }));
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const blobs: string[] = [];
  const files: { path: string; blobId: string }[] = [];
  const refused: { path: string; why: string }[] = [];

  function take(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    printed.push(bytes);
    if (spec.program.type === "script") scriptStreams[stream].push(bytes);
    batcher.push(toPlainText(decoders[stream].decode(bytes, { stream: true })));
  }

  async function keep(kind: string, content: AsyncIterable<Uint8Array>, path?: string): Promise<string> {
    const { id, size } = await budget(mask.iterable(content), (counted) => store.put(owner, kind, counted));
    blobs.push(id);
    notify({ type: "blob_kept", blobId: id, kind, sizeBytes: size, ...(path !== undefined && { path }) });
    return id;
  }

  return {
    host: {
      print: (stream, bytes) => take(stream, masked[stream].push(bytes)),
      hide: mask.text,
      async createBlob(kind, content) {
        const parsed = parseBlobKind(mask.text(kind));
        return await keep(parsed?.base64 === false ? parsed.kind : "application/octet-stream", content);
      },
      callSkill,
      async output(file, _size, content) {
        const path = mask.plain(file);
        try {
          files.push({ path, blobId: await keep(toMimeType(file), content, path) });
        } catch (error) {
          // A refusal by the store must not take the result away from a run that has ended.
          if (!isSkillsError(error)) throw error;
          refused.push({ path, why: error.message });
        }
      },
    },
    async log() {
      take("stdout", masked.stdout.end());
      take("stderr", masked.stderr.end());
      batcher.end();
      return { text: await mask.longPlain(printed.read()), isCut: printed.isCut };
    },
    stream: (name) => scriptStreams[name],
    blobs,
    files,
    refused,
  };
}

const maxSummaryLength = 1000;

/**
 * Builds the result of a run that has ended, and lists all blobs that it stored. Output and logs that are too long for the result are
 * stored as blobs.
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

/** Lists as many blob ids as fit, first those that the program or the output names; a blob lists further ones. */
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

/** Stores a value or stream that is too long for the result; undefined if it cannot be stored. */
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
  // Mask before cutting: half a secret would not be found.
  const summary = toSummary(given === undefined ? `Completed.${filesIn(record)}` : mask.plain(given));
  return { status: "completed", output, summary };
}

function filesIn({ files }: RunRecord): string {
  const named = files.slice(0, 10).map(({ path, blobId }) => `${path} (${blobId})`);
  return named.length === 0 ? "" : ` Output files: ${named.join(", ")}.`;
}

/** Shortens a text and removes its control sequences. */
function toSummary(text: string): string {
  const plain = toPlainText(text).trim();
  const characters = Array.from(plain);
  return characters.length > maxSummaryLength ? `${characters.slice(0, maxSummaryLength - 1).join("")}…` : plain;
}

/** Returns a small value as it is, and a larger one as a reference to its blob. */
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

/** Returns `{exit_code, stdout, stderr}`; if that is too long, the longer stream is stored as a blob first. */
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

/** Whether an output fits into the result; does not serialise long texts. */
function isShort(output: Record<string, Json>): boolean {
  const isLong = Object.values(output).some((value) => typeof value === "string" && value.length > maxOutputBytes);
  return !isLong && Buffer.byteLength(JSON.stringify(output)) <= maxOutputBytes;
}

/** Stores a blob; undefined if that fails: a full store must not cost a finished run its result. The preview shows the loss. */
async function keepIfPossible({ blobs, owner }: RunFacts["caller"], kind: string, bytes: Uint8Array) {
  try {
    return (await blobs.put(owner, kind, bytes)).id;
  } catch {
    return undefined;
  }
}

/** Returns the ids that a program returned as its output, as far as the caller can read these blobs. */
async function ownedOf(ids: readonly string[], { blobs, owner }: RunFacts["caller"]): Promise<string[]> {
  const found = await Promise.all(ids.slice(0, 256).map((id) => blobs.stat(owner, id).catch(nothing)));
  return found.flatMap((blob) => blob?.id ?? []);
}

const nothing = (): undefined => undefined;
