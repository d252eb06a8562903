import { buffer } from "node:stream/consumers";
import { isSkillsError } from "../../../base/errors.ts";
import { parseUntrustedJson } from "../../../base/json/json-value.ts";
import type { BlobStore } from "../../blobs.ts";
import { defaultRunLimits } from "../run-limits.ts";

/** The maximum bytes of an output inside a result for readers on other machines: as many as a run may return. */
export const maxWholeOutputBytes = defaultRunLimits.resultBytes;

/**
 * Writes the result of a run as JSON. An output that was stored as a blob is included, because a reader on another machine cannot read the
 * blob. An output of more than `maxWholeOutputBytes`, or one that is no longer stored, stays a reference.
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
    // The blob expired, was removed or damaged, or is one of the program's own that is not JSON.
    signal.throwIfAborted();
    if (isSkillsError(error) || error instanceof SyntaxError) return asGiven();
    throw error;
  }
}

/** Returns the id of the blob with an output that was too long for the result; undefined for other outputs. */
export function storedOutput(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null) return undefined;
  const { truncated, blob_id: id } = output as { readonly truncated?: unknown; readonly blob_id?: unknown };
  return truncated === true && typeof id === "string" ? id : undefined;
}
