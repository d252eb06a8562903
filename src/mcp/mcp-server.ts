import { McpServer, type Tool } from "@modelcontextprotocol/server";
import { SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { withinTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { type McpTool, type ObjectSchema, toolDefinitions } from "../runtime/tools.ts";
import { viewSkills, visibleTo } from "../runtime/caller.ts";
import { createCallTool } from "./call-tool.ts";
import { toInstructions } from "./instructions.ts";
import type { McpCaller, McpApp } from "./mcp-caller.ts";
import { type PagedSource, createSkillResources } from "./skills/skill-source.ts";
import type { ToolName } from "../wire/tools.ts";

export interface ServerOptions {
  /** Whether the client can be notified of changed skills. The tools never change. */
  readonly notifiesOfChanges: boolean;
  /** The client declares the Skills extension. Other clients get no resources: agents would give their model tools for reading them. */
  readonly declaresSkills: boolean;
  /** The client shows a person the questions of a server, and answers requests of the server. */
  readonly answersQuestions: boolean;
  /** The request that the server is created for is answered with instructions. */
  readonly hasInstructions: boolean;
}

/** How long instructions wait for the skills to be read for the first time. */
const readingTime = 2_000;

/**
 * Creates MCP servers for one caller, as the library asks for them: one per request over HTTP, one per connection over stdio. They serve
 * the caller's tools, and the Skills extension if the caller has the tools that show the same.
 */
export function createMcpServerFactory(app: McpApp, caller: McpCaller): (options: ServerOptions) => Promise<McpServer> {
  const { log, clock, version } = app;
  const tools = toolDefinitions("mcp", caller.tools === undefined ? {} : { tools: caller.tools }).map(toListed);
  const source = showsSkills(caller.tools) ? createSkillResources(app, caller) : undefined;
  const skills = source && openExtension(source, log);
  const call = createCallTool(app, caller);

  async function instructions(): Promise<string | undefined> {
    const { skills, visible, tools, isTaught, project } = caller;
    await withinTime(Promise.resolve(skills.ready), clock, readingTime);
    const { snapshot } = skills;
    const view = viewSkills(snapshot, visibleTo("mcp", snapshot, { visible, policy: app.policyFor(project) }));
    return toInstructions(view.after(undefined, undefined), { tools, hasIndex: isTaught !== true });
  }

  return async ({ notifiesOfChanges, declaresSkills, answersQuestions, hasInstructions }) => {
    const listChanged = notifiesOfChanges && caller.skills.onChange !== undefined;
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
    server.server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
      call(params, mcpReq, { answersQuestions }),
    );
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
