import { parseIfJson } from "../../base/json-file/json-value.ts";
import { isRecord, type JsonRecord } from "../bytes/raw-message.ts";

/** A run of code, as our tools return it. */
interface Run {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly logs_preview: string;
  readonly error?: unknown;
}

export function isRun(output: unknown): output is Run {
  return (
    isRecord(output) &&
    (output["status"] === "completed" || output["status"] === "failed") &&
    ["run_id", "summary", "logs_preview"].every((key) => typeof output[key] === "string")
  );
}

/** The text of a result, if it has one; for a run, what it printed and its summary. */
export function textOf(output: unknown): string | undefined {
  if (isRun(output)) return `${output.logs_preview}${output.summary}`;
  if (isFailure(output)) return output.message;
  const isText = isRecord(output) && output["encoding"] !== "base64" && typeof output["content"] === "string";
  return isText ? String(output["content"]) : undefined;
}

/** Why a call failed: the error of a run, or of a call that was refused. */
export function reasonIn(output: unknown): string | undefined {
  const error = isRun(output) && output.status === "failed" ? output.error : output;
  return isRecord(error) && !isRun(error) && typeof error["message"] === "string" ? error["message"] : undefined;
}

/** An error as on the wire. */
function isFailure(output: unknown): output is { readonly message: string } {
  return isRecord(output) && "code" in output && typeof output["message"] === "string";
}

/** Where agents put the result of an MCP tool, nearest first. */
const places = ["structuredContent", "result", "output", "content", "text"];
const mostNested = 6;
const longestResult = 1_048_576;

/** The result of one of our tools in the update that ends its call, as agents wrap it. Undefined if there is none. */
export function resultIn({ rawOutput, content }: JsonRecord): JsonRecord | undefined {
  return findResult(rawOutput, mostNested) ?? findResult(content, mostNested);
}

function findResult(value: unknown, depth: number): JsonRecord | undefined {
  if (depth === 0) return undefined;
  if (typeof value === "string") return findResult(parse(value), depth - 1);
  if (Array.isArray(value)) return findResult(value[0], depth - 1);
  if (!isRecord(value)) return undefined;
  if (textOf(value) !== undefined || typeof value["blob_id"] === "string") return value;
  for (const place of places) {
    const found = findResult(value[place], depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** JSON, possibly between fences of Markdown. */
function parse(text: string): unknown {
  if (text.length > longestResult) return undefined;
  const [, fenced = text] = /^\s*```(?:json)?\n([^]*)\n```\s*$/.exec(text) ?? [];
  return fenced.startsWith("{") ? parseIfJson(fenced) : undefined;
}
