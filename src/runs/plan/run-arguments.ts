import { isBlobId } from "../../blobs/blob-arguments.ts";
import type { StoredBlob } from "../../blobs/blob-store.ts";
import { isSkillsError } from "../../errors.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import { invalidInput } from "../../base/invalid-input.ts";
import type { RunContext } from "../../tools/tool.ts";
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

/** Every text in a value that is shaped like the id of a blob. Not recursive: the value is anybody's. */
function* blobIdsIn(value: Json): Generator<string> {
  const left: Json[] = [value];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (typeof at === "string" && isBlobId(at)) yield at;
    else if (typeof at === "object" && at !== null) for (const inner of Object.values(at).reverse()) left.push(inner);
  }
}

/** JSON as it came in, no deeper than the sandbox takes. Throws VALIDATION_ERROR. */
export function checkDepth(tool: string, args: Json): void {
  if (isDeeper(args, maxDepth)) {
    throw invalidInput(tool, [{ field: "/args", expected: `JSON at most ${maxDepth} levels deep`, actual: "deeper" }]);
  }
}

const maxDepth = 200;

/** Level by level: neither its depth nor how many values it has is ours to choose. */
function isDeeper(value: Json, most: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: Json[] = [];
    for (const holder of level) {
      if (typeof holder !== "object" || holder === null) continue;
      if (depth === most) return true;
      for (const inner of Object.values(holder)) if (typeof inner === "object" && inner !== null) below.push(inner);
    }
    level = below;
  }
  return false;
}
