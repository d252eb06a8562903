import { isDeepStrictEqual } from "node:util";
import { parseIfJson } from "../../base/json/json-value.ts";
import { counted, inDigits } from "../../base/text/code-points.ts";
import { quoted } from "../../base/text/quoted.ts";
import { withoutControls } from "../../base/text/unsafe-characters.ts";
import { sessionUpdate, toolCall as toolCallKind, toolCallUpdate } from "../../wire/methods.ts";
import type { Notification } from "../emission.ts";
import type { Amendment, Path } from "./amend.ts";
import { markUnseen } from "../../runtime/question.ts";
import { type JsonRecord, isRecord, recordAt } from "./raw-message.ts";
import { maxJsonLength, reasonIn, resultIn, textOf } from "./call-result.ts";
import { servedTools } from "../../wire/tools.ts";

/** The known facts about a blob. */
export interface BlobFacts {
  readonly size?: number;
  /** The MIME type of the blob. */
  readonly kind?: string;
  /** The file from which the blob was made. */
  readonly path?: string;
}

/** Blobs by their ids. */
export type KnownBlobs = ReadonlyMap<string, BlobFacts>;

type Kind = "read" | "execute" | "edit" | "other";

/**
 * Makes the title of a call for the user, such as `Run skill rows.clean on table.csv`, and its ACP kind. The input may be unknown. `blobs`
 * are the blobs that the input may mention.
 */
export function describeCall(
  tool: string,
  input: unknown,
  blobs: KnownBlobs = new Map(),
): { readonly title: string; readonly kind: Kind } {
  const [title, kind] = titleAndKind(tool, isRecord(input) ? input : {}, blobs);
  return { title: oneLine(title), kind };
}

function titleAndKind(tool: string, args: JsonRecord, blobs: KnownBlobs): readonly [title: string, kind: Kind] {
  const [name, path, target] = [word(args["name"]), word(args["path"]), word(args["save_as"])];
  switch (tool) {
    case "execute_skill":
      return [runTitle(name, args, blobs), "execute"];
    case "run_code":
      return [`Run Python code${withSkills(args["mount_skills"])}${on([], args, blobs)}`, "execute"];
    case "create_blob":
      return path === undefined ? ["Create a blob", "other"] : [`Create a blob from ${path}`, "read"];
    case "read_blob": {
      const { blob_id: id } = args;
      const blob = describeBlob(typeof id === "string" ? blobs.get(id) : undefined);
      return target === undefined ? [`Read ${blob}`, "read"] : [`Write ${blob} to ${target}`, "edit"];
    }
    case "list_skills":
      return ["List skills", "read"];
    case "describe_skill":
      return [name === undefined ? "Describe a skill" : `Describe skill ${name}`, "read"];
    case "read_skill_file": {
      const parts = [args["name"], args["path"]].filter((part) => typeof part === "string" && part !== "");
      const file = word(parts.join("/"));
      return [file === undefined ? "Read a file of a skill" : `Read skill file ${file}`, "read"];
    }
    case "load_skills_protocol_guide":
      return ["Read the Skills Protocol guide", "read"];
    default:
      return [tool, "other"];
  }
}

function runTitle(name: string | undefined, args: JsonRecord, blobs: KnownBlobs): string {
  const script = word(args["script"]);
  const skill = name === undefined ? "a skill" : `skill ${name}`;
  const given = isRecord(args["args"]) ? args["args"] : {};
  const values = script === undefined ? Object.values(given) : argv(given);
  return `${script === undefined ? "Run" : `Run ${script} of`} ${skill}${on(values, args, blobs)}`;
}

/** Names the input of a call: short texts, files that were made blobs, and other blobs together. */
function on(values: readonly unknown[], { input_blobs: inputs }: JsonRecord, blobs: KnownBlobs): string {
  const texts = values.filter(
    (value): value is string => typeof value === "string" && value !== "" && value.length <= maxTargetLength,
  );
  const given = [...texts.filter(isBlob), ...(Array.isArray(inputs) ? (inputs as unknown[]) : [])];
  const unnamed = [...new Set(given)].filter((id) => typeof id === "string" && blobs.get(id)?.path === undefined);
  const [first] = unnamed;
  const together = unnamed.length < 2 ? [] : [describeBlobs(unnamed.map((id) => blobs.get(String(id))))];
  const targets = [...texts, ...given].flatMap((text) => {
    if (typeof text !== "string") return [];
    if (!isBlob(text)) return [quoted(text)];
    const known = blobs.get(text);
    if (known?.path !== undefined || unnamed.length < 2) return [describeBlob(known)];
    return text === first ? together : [];
  });
  const shown = [...new Set(targets)].slice(0, maxTargets);
  return shown.length === 0 ? "" : ` on ${shown.join(", ")}`;
}

function isBlob(text: unknown): boolean {
  return typeof text === "string" && text.startsWith("blob:");
}

const maxNameLength = 100;

/** Names a blob by its file, or by its size and kind: `58 bytes of text/csv`. */
function describeBlob({ path, size, kind }: BlobFacts = {}): string {
  const shown = (text: string): string => quoted(text, { maxLength: maxNameLength });
  if (path !== undefined) return shown(path);
  const [type] = kind === undefined ? [] : kind.split(";");
  if (size === undefined) return type === undefined ? "a blob" : `a blob of ${shown(type)}`;
  return `${sizeText(size)} of ${shown(type ?? "data")}`;
}

/** Names several blobs: `3 blobs (1.2 MB)`, without the size if the size of one is unknown. */
function describeBlobs(blobs: readonly (BlobFacts | undefined)[]): string {
  let size: number | undefined = 0;
  for (const blob of blobs) size = size === undefined || blob?.size === undefined ? undefined : size + blob.size;
  return `${counted(blobs.length, "blob")}${size === undefined ? "" : ` (${sizeText(size)})`}`;
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  const [divisor, unit] = bytes < 999_950 ? [1_000, "kB"] : [1_000_000, "MB"];
  return `${(bytes / divisor).toFixed(1).replace(/\.0$/, "")} ${unit}`;
}

function argv(given: JsonRecord): readonly unknown[] {
  return Array.isArray(given["argv"]) ? (given["argv"] as unknown[]) : [];
}

function withSkills(mounted: unknown): string {
  const names = (Array.isArray(mounted) ? (mounted as unknown[]) : []).flatMap((skill) => {
    const name = word(isRecord(skill) ? skill["name"] : skill);
    return name === undefined ? [] : [name];
  });
  if (names.length === 0) return "";
  const more = names.length > maxTargets ? ` and ${names.length - maxTargets} more` : "";
  return ` with ${names.slice(0, maxTargets).join(", ")}${more}`;
}

const maxTargetLength = 60;
const maxTargets = 3;
const maxTitleLength = 200;

function word(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? quoted(value.slice(0, maxTitleLength)) : undefined;
}

function oneLine(text: string): string {
  const line = withoutControls(text.replace(/\s+/g, " ").trim());
  return line.length <= maxTitleLength ? line : `${line.slice(0, maxTitleLength - 1)}…`;
}

/** Makes the title of a failed call, with the reason; undefined if the call did not fail. */
export function describeFailure(title: string, output: unknown): string | undefined {
  const reason = reasonIn(output);
  return reason === undefined ? undefined : oneLine(`${title} failed (${reason.replace(/\.$/, "")})`);
}

/** Converts a text to the content of a tool call. */
export function toTextContent(text: string): readonly JsonRecord[] {
  return [{ type: "content", content: { type: "text", text } }];
}

/** The maximum number of characters of code that are shown. */
const maxCodeLength = 65_536;

/** Shows the code that a call of `run_code` runs, with every invisible character marked; undefined for any other call. */
export function codeContent(tool: string, input: unknown): readonly JsonRecord[] | undefined {
  const { code, language } = tool === "run_code" && isRecord(input) ? input : {};
  if (typeof code !== "string" || code === "") return undefined;
  const shown = markUnseen(code.slice(0, maxCodeLength));
  const more = code.length <= maxCodeLength ? "" : `\n… and ${inDigits(code.length - maxCodeLength)} more characters`;
  const maxRun = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(maxRun + 1);
  const name = typeof language === "string" && /^\w+$/.test(language) ? language : "";
  return toTextContent(`${fence}${name}\n${shown.replace(/\n$/, "")}\n${fence}${more}`);
}

/**
 * Makes the new content of the message that first reports the code of a `run_code` call. The code comes first and replaces the input as
 * JSON; the agent's other content follows. Undefined if the content stays as it is.
 */
function contentWithCode(toolCall: JsonRecord, { tool, input, isNew }: OwnCall): readonly unknown[] | undefined {
  const code = codeContent(tool, input);
  if (code === undefined || isFinal(toolCall["status"])) return undefined;
  const content = Array.isArray(toolCall["content"]) ? (toolCall["content"] as unknown[]) : [];
  const given = content.filter((part) => !isDeepStrictEqual(parseIfJson(textIn(part)), input));
  const isAsked = toolCall["sessionUpdate"] === undefined;
  return isAsked || given.length < content.length || (isNew === true && content.length === 0)
    ? [...code, ...given]
    : undefined;
}

function textIn(part: unknown): string {
  const text = recordAt(part, "content")?.["text"];
  return typeof text === "string" && text.length <= maxJsonLength ? text : "";
}

/** Amends a call of a tool of acp-skills, so that the editor shows a title instead of the tool's name and text instead of JSON. */
export function describeForUser(toolCall: JsonRecord, path: Path, call: OwnCall): Amendment[] {
  const { title, kind } = describeCall(call.tool, call.input, call.blobs);
  const { status } = toolCall;
  const result = status === "completed" || status === "failed" ? resultIn(toolCall) : undefined;
  const text = textOf(result);
  const ended = text === undefined ? [] : [{ path: [...path, "content"], value: toTextContent(text) }];
  const failure = describeFailure(title, result);
  if (failure !== undefined) {
    // For the agent, a tool that returns a result has completed, even if the run failed.
    const failed = status === "failed" ? [] : [{ path: [...path, "status"], value: "failed" }];
    return [{ path: [...path, "title"], value: failure }, ...failed, ...ended];
  }
  const described = Object.entries({ title, kind }).flatMap(([key, value]) => {
    // An update of only the status stays as it is.
    const isDue = toolCall[key] !== undefined || hasDescription(toolCall);
    return isDue && toolCall[key] !== value ? [{ path: [...path, key], value }] : [];
  });
  const code = contentWithCode(toolCall, call);
  return [...described, ...ended, ...(code === undefined ? [] : [{ path: [...path, "content"], value: code }])];
}

/** Whether a message describes its call. A permission request does, even with only an id, and so gets a title. */
function hasDescription({ sessionUpdate, rawInput }: JsonRecord): boolean {
  return sessionUpdate !== "tool_call_update" || (isRecord(rawInput) && Object.keys(rawInput).length > 0);
}

/**
 * Removes the "always allow" option from a permission request for a tool that runs code: it would allow every skill, not only this one.
 */
export function withoutAlways(params: JsonRecord, { tool }: OwnCall): Amendment[] {
  const { options } = params;
  if (servedTools.get(tool)?.executes !== true || !Array.isArray(options)) return [];
  const remaining = (options as unknown[]).filter((option) => !(isRecord(option) && option["kind"] === "allow_always"));
  return remaining.length === options.length ? [] : [{ path: ["params", "options"], value: remaining }];
}

/** Reports a call that the editor would first have seen in a permission request, which acp-skills answered. */
export function callAsked(sessionId: unknown, toolCall: JsonRecord, call: OwnCall): Notification {
  const content = contentWithCode(toolCall, call);
  const title = describeCall(call.tool, call.input, call.blobs);
  const update = { ...toolCall, ...title, ...(content && { content }), sessionUpdate: toolCallKind };
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } };
}

const allowed = toTextContent("Allowed by acp-skills: it runs in a sandbox, without network, secrets or your files.");

/** Makes the content of a call whose run was allowed on the user's behalf. */
export function allowedRun({ tool, input }: OwnCall): readonly JsonRecord[] {
  return [...(codeContent(tool, input) ?? []), ...allowed];
}

/** Describes a call that was allowed on the user's behalf. An agent that defers tools may have shown it as a call of another tool. */
export function callAllowed(
  sessionId: unknown,
  { toolCallId }: JsonRecord,
  { tool, input, blobs }: OwnCall,
  more: JsonRecord = {},
): Notification {
  const update = { sessionUpdate: toolCallUpdate, toolCallId, ...describeCall(tool, input, blobs), ...more };
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } };
}

/** Whether a call with this status has ended. */
export function isFinal(status: unknown): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** A call of a tool of acp-skills, as an agent reports it to its editor. */
export interface OwnCall {
  readonly tool: string;
  /** The input of the call; undefined if the agent has not reported it. */
  readonly input: JsonRecord | undefined;
  /** The blobs of earlier calls, for the title. */
  readonly blobs?: KnownBlobs;
  /** Whether the input was not known before this message. */
  readonly isNew?: boolean;
}
