import type { BlobStore } from "../../blobs.ts";
import { runInSlices } from "../../../base/promises/slices.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { frameLimits } from "../../sandbox/frames.ts";
import { parseUntrustedJson, TooDeep, writeJson } from "../../../base/json/untrusted-json.ts";
import { defaultRunLimits } from "../run-limits.ts";

/** The longest output that a result has in it for readers on other machines: as much as a run may return. */
export const maxWholeOutputBytes = defaultRunLimits.resultBytes;

interface BlobReader {
  readonly owner: string;
  readonly blobs: Pick<BlobStore, "stat" | "read">;
}

/**
 * The result of a run as JSON, with the whole output where that was stored as a blob: a reader on another machine could not read the blob.
 * An output of more than `maxWholeOutputBytes`, or one that is no longer stored, stays a reference.
 */
export async function writeWholeResult(
  result: Readonly<Record<string, unknown>>,
  reader: BlobReader,
  signal: AbortSignal,
): Promise<Buffer> {
  const whole = (await withWholeOutput(result, reader, signal)) ?? result;
  return await runInSlices(writeJson(whole));
}

async function withWholeOutput(
  result: Readonly<Record<string, unknown>>,
  { owner, blobs }: BlobReader,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { output, output_blobs: listed } = result;
  const id = storedOutput(output);
  // A program may return what looks like a reference; only blobs of this run are read.
  if (id === undefined || !Array.isArray(listed) || !listed.includes(id)) return undefined;
  try {
    const { size, kind } = await blobs.stat(owner, id);
    if (size > maxWholeOutputBytes || kind !== "application/json") return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of blobs.read(owner, id)) {
      signal.throwIfAborted();
      chunks.push(chunk);
    }
    const { value } = await runInSlices(parseUntrustedJson(Buffer.concat(chunks), frameLimits.depth));
    return { ...result, output: value, output_blobs: listed.filter((other) => other !== id) };
  } catch (error) {
    // Expired, removed, damaged, or a blob of the program's own that is not JSON.
    signal.throwIfAborted();
    const isUnreadable = isSkillsError(error) || error instanceof SyntaxError || error instanceof TooDeep;
    if (isUnreadable) return undefined;
    throw error;
  }
}

/** The blob that holds an output which was too long for the result. */
function storedOutput(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null) return undefined;
  const { truncated, blob_id: id } = output as { readonly truncated?: unknown; readonly blob_id?: unknown };
  return truncated === true && typeof id === "string" ? id : undefined;
}
