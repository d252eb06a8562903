import { quoted } from "../../base/text/quoted.ts";
import { withoutControls } from "../../base/text/unsafe-characters.ts";
import { sessionUpdate, toolCall as toolCallKind, toolCallUpdate } from "../../wire/methods.ts";
import type { Notification } from "../emission.ts";
import type { Amendment, Path } from "./amend.ts";
import { type JsonRecord, isRecord } from "./raw-message.ts";
import { reasonIn, resultIn, textOf } from "./call-result.ts";
import { servedTools } from "../../wire/tools.ts";

/** What blobs are, for a person, by their ids. */
export type BlobNames = ReadonlyMap<string, string>;

type Kind = "read" | "execute" | "edit" | "other";

/**
 * How a call is shown to the user, and its ACP kind: `Run skill rows.clean on table.csv`. The input may be unknown; `blobs` names those
 * that it may mention.
 */
export function describeCall(
  tool: string,
  input: unknown,
  blobs: BlobNames = new Map(),
): { readonly title: string; readonly kind: Kind } {
  const [title, kind] = titleAndKind(tool, isRecord(input) ? input : {}, blobs);
  return { title: oneLine(title), kind };
}

function titleAndKind(tool: string, args: JsonRecord, blobs: BlobNames): readonly [title: string, kind: Kind] {
  const [name, path, target] = [word(args["name"]), word(args["path"]), word(args["save_as"])];
  switch (tool) {
    case "execute_skill":
      return [runTitle(name, args, blobs), "execute"];
    case "run_code":
      return [`Run Python code${withSkills(args["mount_skills"])}`, "execute"];
    case "create_blob":
      return path === undefined ? ["Create a blob", "other"] : [`Create a blob from ${path}`, "read"];
    case "read_blob": {
      const { blob_id: id } = args;
      const blob = (typeof id === "string" ? blobs.get(id) : undefined) ?? "a blob";
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

function runTitle(name: string | undefined, args: JsonRecord, blobs: BlobNames): string {
  const script = word(args["script"]);
  const skill = name === undefined ? "a skill" : `skill ${name}`;
  const given = isRecord(args["args"]) ? args["args"] : {};
  const subjects = (script === undefined ? Object.values(given) : argv(given))
    .filter((value) => typeof value === "string" && value !== "" && value.length <= longestSubject)
    .map((value) =>
      String(value).startsWith("blob:") ? (blobs.get(String(value)) ?? "a blob") : quoted(String(value)),
    )
    .slice(0, mostSubjects);
  const on = subjects.length === 0 ? "" : ` on ${subjects.join(", ")}`;
  return `${script === undefined ? "Run" : `Run ${script} of`} ${skill}${on}`;
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
  const more = names.length > mostSubjects ? ` and ${names.length - mostSubjects} more` : "";
  return ` with ${names.slice(0, mostSubjects).join(", ")}${more}`;
}

const longestSubject = 60;
const mostSubjects = 3;
const longestTitle = 200;

function word(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? quoted(value.slice(0, longestTitle)) : undefined;
}

function oneLine(text: string): string {
  const line = withoutControls(text.replace(/\s+/g, " ").trim());
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1)}…`;
}

/** The title of a call that failed: what it was to do, and why it failed. Undefined if it did not fail. */
export function describeFailure(title: string, output: unknown): string | undefined {
  const reason = reasonIn(output);
  return reason === undefined ? undefined : oneLine(`${title} failed (${reason.replace(/\.$/, "")})`);
}

/** A text as the content of a tool call. */
export function toTextContent(text: string): readonly JsonRecord[] {
  return [{ type: "content", content: { type: "text", text } }];
}

/**
 * Amends a call of one of our tools so that the editor shows what it does instead of the tool's name, and how it ended instead of JSON.
 */
export function describeToPerson(toolCall: JsonRecord, path: Path, call: OwnCall): Amendment[] {
  const { title, kind } = describeCall(call.tool, call.input, call.blobs);
  const { status } = toolCall;
  const result = status === "completed" || status === "failed" ? resultIn(toolCall) : undefined;
  const text = textOf(result);
  const ended = text === undefined ? [] : [{ path: [...path, "content"], value: toTextContent(text) }];
  const failure = describeFailure(title, result);
  if (failure !== undefined) {
    // For the agent, a tool that returns has completed.
    const failed = status === "failed" ? [] : [{ path: [...path, "status"], value: "failed" }];
    return [{ path: [...path, "title"], value: failure }, ...failed, ...ended];
  }
  const described = Object.entries({ title, kind }).flatMap(([key, value]) => {
    // An update of only the status is unchanged.
    const isDue = toolCall[key] !== undefined || hasDescription(toolCall);
    return isDue && toolCall[key] !== value ? [{ path: [...path, key], value }] : [];
  });
  return [...described, ...ended];
}

/** Whether a message describes its call; a permission request with only an id gets a title too. */
function hasDescription({ sessionUpdate, rawInput }: JsonRecord): boolean {
  return sessionUpdate !== "tool_call_update" || (isRecord(rawInput) && Object.keys(rawInput).length > 0);
}

/**
 * Removes "always allow" from a permission request for a tool that runs code: it would allow every skill, not only this one.
 */
export function withoutAlways(params: JsonRecord, { tool }: OwnCall): Amendment[] {
  const { options } = params;
  if (servedTools.get(tool)?.executes !== true || !Array.isArray(options)) return [];
  const remaining = (options as unknown[]).filter((option) => !(isRecord(option) && option["kind"] === "allow_always"));
  return remaining.length === options.length ? [] : [{ path: ["params", "options"], value: remaining }];
}

/** Reports a call that the editor would first have seen in a permission request that we answered. */
export function callAsked(sessionId: unknown, toolCall: JsonRecord, call: OwnCall): Notification {
  const update = { ...toolCall, ...describeCall(call.tool, call.input, call.blobs), sessionUpdate: toolCallKind };
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } };
}

/** The content of a call whose run was allowed on the person's behalf. */
export const allowedRun = toTextContent(
  "Allowed by acp-skills: it runs in a sandbox, without network, secrets or your files.",
);

/** Describes a call that was allowed on the person's behalf: an agent that defers tools may have shown it as one of another tool. */
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

/** A call of one of our tools, as an agent reports it to its editor. */
export interface OwnCall {
  readonly tool: string;
  /** Undefined if the agent has not reported it. */
  readonly input: JsonRecord | undefined;
  /** What the blobs of earlier calls are, for a person. */
  readonly blobs?: ReadonlyMap<string, string>;
}
