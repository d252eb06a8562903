import { isBlobId } from "../../blobs/blob-id.ts";
import type { StoredBlob } from "../../blobs/blob-store.ts";
import { isSkillsError } from "../../errors.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import { invalidInput } from "../check-input.ts";
import type { RunContext } from "../tool.ts";
import { maxInputBlobs } from "./run-limits.ts";

/**
 * The blobs that a run has mounted: those that are asked for, which have to exist, and whatever else of the caller's an argument names
 * (CONTRACT C-5.2). Throws BLOB_NOT_FOUND.
 */
export async function findBlobs(
  { blobs, owner }: RunContext,
  tool: string,
  asked: readonly string[],
  args: Json,
): Promise<StoredBlob[]> {
  const wanted = [...new Set(asked)];
  const mentioned = [...new Set(blobIdsIn(args))].filter((id) => !wanted.includes(id));
  if (wanted.length + mentioned.length > maxInputBlobs) {
    const expected = `at most ${maxInputBlobs} blobs`;
    throw invalidInput(tool, [{ field: "/input_blobs", expected, actual: wanted.length + mentioned.length }]);
  }
  const found = await Promise.all(wanted.map((id) => blobs.stat(owner, id)));
  const others = await Promise.all(mentioned.map((id) => blobs.stat(owner, id).catch(unlessAbsent)));
  return [...found, ...others.filter((blob) => blob !== undefined)];
}

function unlessAbsent(error: unknown): undefined {
  if (!isSkillsError(error) || error.code !== "BLOB_NOT_FOUND") throw error;
}

/** Every text in a value that is shaped like the id of a blob. */
function* blobIdsIn(value: Json): Generator<string> {
  if (typeof value === "string") {
    if (isBlobId(value)) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* blobIdsIn(inner);
  }
}

/** JSON as it came in, no deeper than the sandbox takes. Throws VALIDATION_ERROR. */
export function checkDepth(tool: string, args: Json): void {
  if (depthOf(args, maxDepth) > maxDepth) {
    throw invalidInput(tool, [{ field: "/args", expected: `JSON at most ${maxDepth} levels deep`, actual: "deeper" }]);
  }
}

const maxDepth = 200;

function depthOf(value: Json, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (most < 0) return 1;
  return 1 + Math.max(0, ...Object.values(value).map((inner) => depthOf(inner, most - 1)));
}
