import { McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import { SkillsExtension, SKILLS_EXTENSION_ID } from "@modelcontextprotocol/server/ext/skills";
import { withinTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { toolDefinitions } from "../tools/tools.ts";
import type { McpTool, ObjectSchema } from "../tools/tools.ts";
import type { ToolName } from "../tools/tool.ts";
import type { RunListener } from "../runs/run-event.ts";
import { toWireError } from "../wire/error-table.ts";
import type { WireError } from "../wire/error-table.ts";
import { viewSkills, visibleTo } from "../tools/view/skill-view.ts";
import { toInstructions } from "./instructions.ts";
import type { McpCaller, McpDoor } from "./mcp-door.ts";
import { openSkillSource } from "./skill-source.ts";
import type { PagedSource } from "./skill-source.ts";

export interface ServerOptions {
  /** Whether the client can be notified of changed skills. The tools never change. */
  readonly tellsChanges: boolean;
  /** The client declares the Skills extension. Other clients get no resources: agents would give their model tools for reading them. */
  readonly declaresSkills: boolean;
  /** The request that the server is created for is answered with instructions. */
  readonly hasInstructions: boolean;
}

/** The parameters of `tools/call`. */
interface CalledTool {
  readonly name: string;
  readonly arguments?: unknown;
  readonly _meta?:
    { readonly progressToken?: string | number | undefined; readonly [key: string]: unknown } | undefined;
}

/** How long instructions wait for the skills to be read for the first time. */
const readingTime = 2_000;

/**
 * Creates MCP servers for one caller, as the library asks for them: one per request over HTTP, one per connection over stdio. They serve
 * the caller's tools, and the Skills extension if the caller has the tools that show the same.
 */
export function openMcpServers(door: McpDoor, caller: McpCaller): (options: ServerOptions) => Promise<McpServer> {
  const { toolbox, log, clock, version } = door;
  const tools = toolDefinitions("mcp", caller.tools === undefined ? {} : { tools: caller.tools }).map(toListed);
  const source = showsSkills(caller.tools) ? openSkillSource(door, caller) : undefined;
  const skills = source && openExtension(source, log);

  async function call(
    { name, arguments: args, _meta: meta }: CalledTool,
    { signal, notify }: ServerContext["mcpReq"],
  ): Promise<CallToolResult> {
    const listeners = [
      ...(meta?.progressToken === undefined ? [] : [toProgress(meta.progressToken, notify, log)]),
      caller.follow?.({ toolCallId: toolCallIdIn(meta), tool: name, input: args }),
    ].filter((listener) => listener !== undefined);
    const onEvent: RunListener = (event) => {
      for (const listener of listeners) listener(event);
    };
    const turn = caller.turn?.();
    const given = turn === undefined ? signal : AbortSignal.any([signal, turn]);
    try {
      // Copied for each call: the session id may be known only after the server was opened.
      const context = { ...caller, ...(listeners.length > 0 && { onEvent }) };
      const output = await toolbox.call(name, args, context, given);
      caller.called?.(name, args);
      return toResult(output);
    } catch (error) {
      // A cancelled request gets no answer.
      signal.throwIfAborted();
      if (turn?.aborted === true) return turnCancelled(name);
      return toErrorResult(toWireError(error, { log }));
    }
  }

  async function instructions(): Promise<string | undefined> {
    const { skills, visible, tools, isTaught, project } = caller;
    await withinTime(Promise.resolve(skills.ready), clock, readingTime);
    const { snapshot } = skills;
    const view = viewSkills(snapshot, visibleTo("mcp", snapshot, { visible, policy: door.policyFor(project) }));
    return toInstructions(view.after(undefined, undefined), { tools, hasIndex: isTaught !== true });
  }

  return async ({ tellsChanges, declaresSkills, hasInstructions }) => {
    const listChanged = tellsChanges && caller.skills.onChange !== undefined;
    const capabilities = { tools: { listChanged: false }, ...(skills && { resources: { listChanged } }) };
    const about = hasInstructions ? await instructions() : undefined;
    const server = new McpServer(
      { name: "acp-skills", version },
      { capabilities, ...(about !== undefined && { instructions: about }) },
    );
    // Not `registerTool`, which would validate input a second time, with other messages.
    server.server.setRequestHandler("tools/list", () => {
      caller.toolsListed?.();
      return { tools };
    });
    server.server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => call(params, mcpReq));
    skills?.attach(server);
    // Replaces the library's handler, which has no pagination.
    if (source !== undefined) {
      server.server.setRequestHandler("resources/list", ({ params = {} }, context) =>
        source.listResources(params, context),
      );
    }
    if (!declaresSkills) hideResources(server);
    return server;
  };
}

/** Requests for them are still answered: before 2026-07-28 an HTTP request does not say what its client supports. */
function hideResources({ server }: McpServer): void {
  const offered = Object.entries(server.getCapabilities()).filter(([name]) => name !== "resources");
  server.getCapabilities = () => Object.fromEntries(offered);
}

function openExtension({ list, get, read, readDirectory }: PagedSource, log: Log): SkillsExtension {
  return new SkillsExtension({
    source: { list, get, read, ...(readDirectory && { readDirectory }) },
    onWarning: ({ path, message }) => log("warning", `${path}: ${message}`),
  });
}

const toolsOfTheExtension: readonly ToolName[] = ["list_skills", "describe_skill", "read_skill_file"];

function showsSkills(tools: readonly ToolName[] | undefined): boolean {
  return tools === undefined || toolsOfTheExtension.every((name) => tools.includes(name));
}

/** Some agents hide tools behind a search; this keeps ours listed. */
const alwaysLoad = Object.freeze({ "anthropic/alwaysLoad": true });

const errorSchema = Object.freeze({
  type: "object",
  properties: { code: { type: "integer" }, message: { type: "string" }, data: { type: "object" } },
  required: ["code", "message", "data"],
});

/**
 * A tool as listed. Its output schema also accepts our errors: clients on version 1 of the library validate the structured content of
 * errors against it, and would hide the error from the model.
 */
function toListed({ outputSchema, ...tool }: McpTool): Tool {
  const { type, ...rest } = outputSchema satisfies ObjectSchema;
  const listed = { ...tool, outputSchema: { type, anyOf: [{ type, ...rest }, errorSchema] }, _meta: alwaysLoad };
  return listed;
}

/** A tool always returns an object (CONTRACT C-2.1). */
function toResult(output: unknown): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
}

function turnCancelled(name: string): CallToolResult {
  return { content: [{ type: "text", text: `${name} was cancelled: the user cancelled the turn.` }], isError: true };
}

/** A refusal is a tool result that the model reads; only an unknown tool is a protocol error. */
function toErrorResult(error: WireError): CallToolResult {
  if (error.data.code === "METHOD_NOT_FOUND") {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.data);
  }
  return { content: [{ type: "text", text: JSON.stringify(error) }], structuredContent: { ...error }, isError: true };
}

/** The id of a call in the client's editor; Claude's clients send it. */
function toolCallIdIn(meta: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const id = meta?.["claudecode/toolUseId"];
  return typeof id === "string" ? id : undefined;
}

/** Sends the output of a run, and that it waits for others, as progress to a client that asked for it. */
function toProgress(progressToken: string | number, notify: ServerContext["mcpReq"]["notify"], log: Log): RunListener {
  let progress = 0;
  const send = (message: string): void => {
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: "notifications/progress", params }).catch((error: unknown) =>
      log("info", `A progress notification could not be sent: ${String(error)}`),
    );
  };
  return (event) => {
    if (event.type === "queued" && event.behind > 0) send("Waiting for other runs to end.\n");
    if (event.type === "printed") send(event.text);
  };
}

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/**
 * Whether the client declares the Skills extension in this message: `initialize` carries its capabilities, and since 2026-07-28 every
 * request does.
 */
export function declaresSkills(message: unknown): boolean {
  const params = at(message, "params");
  return [at(params, "capabilities"), at(at(params, "_meta"), capabilitiesKey)].some(
    (capabilities) => typeof at(at(capabilities, "extensions"), SKILLS_EXTENSION_ID) === "object",
  );
}

/** Whether the answer to this message carries the server's instructions. */
export function asksForInstructions(message: unknown): boolean {
  const method = at(message, "method");
  return method === "initialize" || method === "server/discover";
}

function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? undefined) : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if it is not JSON, which the client is told. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
