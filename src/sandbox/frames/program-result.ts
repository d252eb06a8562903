import { frameLimits } from "./frame-limits.ts";
import { FrameFault } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { Json, RunEnd, RunError } from "../sandbox.ts";

/** A result within its limits. */
export type RunResult = Extract<RunEnd, { type: "returned" | "raised" }>;

export type ProgramResult = RunResult | { readonly type: "too-large" };

const mostBlobs = 10_000;
const longestName = 200;
const longestText = 64 * 1024;

/** Validates the result that an untrusted program reports. Throws a `FrameFault` if it is malformed. */
export function readResult({ header, headerBytes, isTooDeep, size }: Frame, mostBytes: number): ProgramResult {
  if (size > 0) throw new FrameFault("A result frame has a payload.");
  if (isTooDeep) return { type: "raised", error: tooDeep };
  if (header.type === "raised") return { type: "raised", error: readError(header["error"]) };
  const { value, summary, output_blobs: outputBlobs } = header;
  if (value === undefined) throw new FrameFault("A result frame has no value.");
  if (summary !== undefined && typeof summary !== "string") throw new FrameFault("summary is not a string.");
  if (outputBlobs !== undefined && !isListOfTexts(outputBlobs))
    throw new FrameFault("output_blobs is not a list of strings.");
  const rest = { type: header.type, value: 0, summary, output_blobs: outputBlobs };
  if (headerBytes > mostBytes && headerBytes - Buffer.byteLength(JSON.stringify(rest)) + 1 > mostBytes)
    return { type: "too-large" };
  return {
    type: "returned",
    value: value as Json,
    ...(summary === undefined ? {} : { summary: cut(summary, longestText) }),
    ...(outputBlobs === undefined ? {} : { outputBlobs }),
  };
}

const tooDeep: RunError = {
  type: "OutputLimitError",
  message: `The result is nested deeper than ${frameLimits.depth} levels.`,
};

function readError(error: unknown): RunError {
  if (typeof error !== "object" || error === null) throw new FrameFault("error is not an object.");
  const { type, message, details } = error as Record<string, unknown>;
  if (typeof type !== "string" || typeof message !== "string") throw new FrameFault("error has no type or message.");
  const isObject = typeof details === "object" && details !== null && !Array.isArray(details);
  return {
    type: cut(type, longestName),
    message: cut(message, longestText),
    ...(isObject ? { details: details as { [key: string]: Json } } : {}),
  };
}

/** The `…` tells the secret mask that a truncated secret may precede it. */
function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= mostBlobs && value.every((item) => typeof item === "string");
}
