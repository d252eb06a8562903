import { parseIfJson } from "../../base/json/json-value.ts";
import { counted } from "../../base/text/code-points.ts";
import { isRecord, type JsonRecord } from "./raw-message.ts";

/** The result of a run of code, as the tools return it. */
interface Run {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly logs_preview: string;
  readonly output?: unknown;
  readonly error?: unknown;
}

export function isRun(output: unknown): output is Run {
  return (
    isRecord(output) &&
    (output["status"] === "completed" || output["status"] === "failed") &&
    ["run_id", "summary", "logs_preview"].every((key) => typeof output[key] === "string")
  );
}

/** Converts a tool's result to text: for a run, its printed text or else its value, with its summary. Undefined for other tools. */
export function textOf(output: unknown): string | undefined {
  if (isRun(output)) return runText(output);
  if (!isRecord(output)) return undefined;
  const { content, encoding, skills, skill, blob_id: blob, saved_as: target, size_bytes: size } = output;
  if (isFailure(output)) return output.message;
  if (Array.isArray(skills)) return listText(skills);
  if (isRecord(skill) && isRecord(skill["manifest"])) return skillText(skill, skill["manifest"]);
  if (typeof target === "string") return `Wrote ${shown(size)} bytes to ${target}.`;
  if (typeof blob === "string" && content === undefined) return `Stored ${shown(size)} bytes as ${blob}.`;
  if (typeof content !== "string") return undefined;
  if (encoding === "base64") return `${shown(size)} bytes that are no text.`;
  // Without an encoding, the content may be another program's wrapper. Only the guide's result has no encoding, and no other field.
  return encoding === "utf-8" || Object.keys(output).length === 1 ? content : undefined;
}

const maxPreviewLength = 300;
const maxListed = 50;

function runText({ logs_preview: printed, summary, output }: Run): string {
  if (printed !== "" || output === undefined || output === null) return `${printed}${summary}`;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return `${summary}\n${text.length <= maxPreviewLength ? text : `${text.slice(0, maxPreviewLength - 1)}…`}`;
}

function listText(skills: readonly unknown[]): string {
  const rows = skills.filter(isRecord).map(({ name, version, description }) => {
    const about = typeof description === "string" ? `: ${description}` : "";
    return `${shown(name)} ${shown(version)}${about}`;
  });
  const more = rows.length > maxListed ? [`and ${rows.length - maxListed} more`] : [];
  return [counted(rows.length, "skill"), ...rows.slice(0, maxListed), ...more].join("\n");
}

function skillText({ files, scripts }: JsonRecord, { name, version, description, kind }: JsonRecord): string {
  const held = Array.isArray(files) ? [counted(files.length, "file")] : [];
  const runnable =
    Array.isArray(scripts) && scripts.length > 0 ? [`runs ${scripts.slice(0, maxListed).join(", ")}`] : [];
  const facts = [...(typeof kind === "string" ? [kind] : []), ...held, ...runnable];
  return `${shown(name)} ${shown(version)}: ${shown(description)}${facts.length === 0 ? "" : `\n${facts.join("; ")}`}`;
}

function shown(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}

/** Reads the error message of a failed run or a refused call; undefined for any other result. */
export function reasonIn(output: unknown): string | undefined {
  if (!isRun(output)) return isFailure(output) ? output.message : undefined;
  const { type, message } = isRecord(output.error) ? output.error : {};
  if (output.status === "completed" || typeof message !== "string") return undefined;
  return typeof type === "string" ? `${type}: ${message}` : message;
}

/** Whether a result is an error as on the wire. */
function isFailure(output: unknown): output is { readonly message: string } {
  return isRecord(output) && "code" in output && typeof output["message"] === "string";
}

/** The keys under which agents nest the result of an MCP tool, in the order in which they are tried. */
const pathLists = [
  ...["structuredContent", "result", "output", "content", "text"],
  // The keys in errors.
  ...["functionResponse", "response", "error", "message"],
];
const maxNested = 14;
/** The maximum length of JSON that is parsed, in characters. */
export const maxJsonLength = 1_048_576;

/** Finds the result of a tool of acp-skills in the update that ends its call, in any wrapper. Undefined if there is none. */
export function resultIn({ rawOutput, content }: JsonRecord): JsonRecord | undefined {
  return findResult(rawOutput, maxNested) ?? findResult(content, maxNested);
}

function findResult(value: unknown, depth: number): JsonRecord | undefined {
  if (depth === 0) return undefined;
  if (typeof value === "string") return findResult(parse(value), depth - 1);
  if (Array.isArray(value)) return findResult(value[0], depth - 1);
  if (!isRecord(value)) return undefined;
  const [isOurs, isError]: readonly boolean[] = [textOf(value) !== undefined, isFailure(value)];
  // An object with only text may be the result, or wrap its JSON. An agent may wrap an error of acp-skills in its own error's message.
  if (isOurs && Object.keys(value).length > 1 && !isError) return value;
  for (const pathList of pathLists) {
    const found = findResult(value[pathList], depth - 1);
    if (found !== undefined) return found;
  }
  return isOurs ? value : undefined;
}

/** Parses JSON, possibly between Markdown fences, or after the words with which Copilot, Gemini CLI and qwen-code report an error. */
function parse(text: string): unknown {
  if (text.length > maxJsonLength) return undefined;
  const [, fenced = text] = /^\s*```(?:json)?\n([^]*)\n```\s*$/.exec(text) ?? [];
  const [, reported = fenced] =
    /^MCP (?:server '[^']*': |tool '[^']*' reported tool error for function call: [^]* with response: )([[{][^]*)$/.exec(
      fenced,
    ) ?? [];
  return /^[[{]/.test(reported) ? parseIfJson(reported) : undefined;
}
