import * as z from "zod";
import { invalidInput, shown } from "../../base/invalid-input.ts";
import type { Violation } from "../../base/invalid-input.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import { isBlobId } from "../../blobs/blob-arguments.ts";
import type { BlobStore, StoredBlob } from "../../blobs/blob-store.ts";
import { isSkillsError } from "../../errors.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import { isChoice, isOfType } from "../../skills/manifest/argument-type.ts";
import type { DeclaredArgument } from "../../skills/manifest/argument-type.ts";
import type { Manifest } from "../../skills/manifest/manifest.ts";
import { maxInputBlobs } from "./run-limits.ts";

const mapping = z.record(z.string(), z.unknown());

/** The arguments of a run, passed on as they are: a copy by `z.record` would lose the key `__proto__`. */
export const runArguments = z
  .unknown()
  .refine((value) => mapping.safeParse(value).success, "an object")
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} });

export type Arguments = Readonly<Record<string, Json>>;

interface Checked {
  /** With the manifest's defaults filled in. */
  readonly args: Arguments;
  /** Ids that an argument of type `blob` names. */
  readonly blobs: readonly string[];
}

/** Validates arguments against a manifest's `inputs` (CONTRACT C-1.4). Throws VALIDATION_ERROR that lists every violation. */
export function checkArgs(tool: string, args: Arguments, inputs: Manifest["inputs"]): Checked {
  if (inputs === undefined) return { args, blobs: [] };
  const declared = Object.entries(inputs);
  const names = declared.map(([name]) => name);
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(inputs, name));
  const violations: Violation[] = unknown.map((name) => ({
    field: pointer(name),
    expected: `one of the skill's inputs: ${names.slice(0, maxNamed).join(", ") || "it has none"}`,
    actual: shown(args[name]),
  }));
  const whole: [string, Json][] = [];
  const blobs: string[] = [];
  for (const [name, argument] of declared) {
    const { type, required = false, default: preset, enum: choices = [] } = argument;
    const value = Object.hasOwn(args, name) ? args[name] : (preset as Json | undefined);
    if (value === undefined) {
      if (required) violations.push({ field: pointer(name), expected: typeWords[type], actual: null });
      continue;
    }
    whole.push([name, value]);
    if (!fits(value, type)) violations.push({ field: pointer(name), expected: typeWords[type], actual: shown(value) });
    else if (!isChoice(value, argument)) {
      const expected = `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
      violations.push({ field: pointer(name), expected, actual: shown(value) });
    } else if (type === "blob" && typeof value === "string") blobs.push(value);
  }
  if (violations.length === 0) return { args: Object.fromEntries(whole), blobs };
  const [misspelt] = unknown;
  const available = misspelt === undefined ? [] : nearest(misspelt, names, asAvailable);
  const near = available[0] === undefined ? {} : { hint: `Did you mean ${available[0]}?`, available };
  throw invalidInput(tool, violations, near);
}

const maxNamed = 10;

const typeWords: Readonly<Record<DeclaredArgument["type"], string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  blob: "a blob id, as create_blob returns it",
};

function fits(value: Json, type: DeclaredArgument["type"]): boolean {
  return type === "blob" ? typeof value === "string" && isBlobId(value) : isOfType(value, type);
}

function pointer(name: string): string {
  return `/args/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;
}

/**
 * The blobs that a run mounts: those requested, which must exist, and any others of the caller's that an argument names
 * (CONTRACT C-5.2). Throws BLOB_NOT_FOUND.
 */
export async function findBlobs(
  { blobs, owner }: { readonly blobs: BlobStore; readonly owner: string },
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

/** Every string in a value that has the form of a blob id. Not recursive: the value is untrusted. */
function* blobIdsIn(value: Json): Generator<string> {
  const left: Json[] = [value];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (typeof at === "string" && isBlobId(at)) yield at;
    else if (typeof at === "object" && at !== null) for (const inner of Object.values(at).reverse()) left.push(inner);
  }
}

/** Throws VALIDATION_ERROR for JSON nested deeper than the sandbox accepts. */
export function checkDepth(tool: string, args: Json): void {
  if (isDeeper(args, maxDepth)) {
    throw invalidInput(tool, [{ field: "/args", expected: `JSON at most ${maxDepth} levels deep`, actual: "deeper" }]);
  }
}

const maxDepth = 200;

/** Level by level, not recursive: the value is untrusted. */
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
