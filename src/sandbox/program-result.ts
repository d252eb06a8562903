import { FrameFault } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { Json, RunEnd, RunError } from "./sandbox.ts";

/** A result within its limits. */
export type RunResult = Extract<RunEnd, { type: "returned" | "raised" }>;

export type ProgramResult = RunResult | { readonly type: "too-large" };

const deepest = 200;
const longestName = 200;
const longestText = 64 * 1024;

/** What an enemy says came of a run, as something that can be passed on. Throws a `FrameFault` where it is nothing of that kind. */
export function readResult({ header, headerBytes, size }: Frame, mostBytes: number): ProgramResult {
  if (size > 0) throw new FrameFault("A result has no payload.");
  if (header.type === "raised") return { type: "raised", error: readError(header["error"]) };
  const { value, summary, output_blobs: outputBlobs } = header;
  if (value === undefined) throw new FrameFault("A result has no value.");
  const plain = toPlain(value);
  // Rewritten, a number can become a few times longer.
  if (headerBytes > mostBytes / 8 && Buffer.byteLength(JSON.stringify(plain)) > mostBytes) return { type: "too-large" };
  if (summary !== undefined && typeof summary !== "string") throw new FrameFault("A summary is not a text.");
  if (outputBlobs !== undefined && !isListOfTexts(outputBlobs)) throw new FrameFault("Output blobs are not a list.");
  return {
    type: "returned",
    value: plain,
    ...(summary === undefined ? {} : { summary: summary.slice(0, longestText) }),
    ...(outputBlobs === undefined ? {} : { outputBlobs }),
  };
}

function readError(error: unknown): RunError {
  if (typeof error !== "object" || error === null) throw new FrameFault("An error is not an object.");
  const { type, message, details } = error as Record<string, unknown>;
  if (typeof type !== "string" || typeof message !== "string") throw new FrameFault("An error has no words.");
  const isObject = typeof details === "object" && details !== null && !Array.isArray(details);
  return {
    type: type.slice(0, longestName),
    message: message.slice(0, longestText),
    ...(isObject ? { details: toPlain(details) as { [key: string]: Json } } : {}),
  };
}

/** Numbers that JSON cannot say, such as 1e999, become null. Not recursive: the depth is the enemy's. */
export function toPlain(value: unknown): Json {
  const root = [value];
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw new FrameFault("A result is too deep.");
    const below: object[] = [];
    const look = (found: unknown): boolean => {
      if (typeof found === "object" && found !== null) below.push(found);
      return typeof found !== "number" || Number.isFinite(found);
    };
    for (const holder of level) {
      if (Array.isArray(holder)) {
        for (let at = 0; at < holder.length; at++) if (!look(holder[at])) holder[at] = null;
      } else {
        const fields = holder as Record<string, unknown>;
        for (const key of Object.keys(fields)) if (!look(fields[key])) fields[key] = null;
      }
    }
    level = below;
  }
  return root[0] as Json;
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
