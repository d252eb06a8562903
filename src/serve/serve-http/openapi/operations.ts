import { type JsonSchema, toSchemaRef } from "./json-schema.ts";

/** One route, as OpenAPI describes it. */
export interface Operation {
  readonly method: "get" | "post" | "delete";
  /** Parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly JsonSchema[];
  readonly body?: JsonSchema;
  /** Default: JSON. */
  readonly bodyType?: string;
  /** By status; those of refusals are added. */
  readonly responses: Readonly<Record<string, JsonSchema>>;
  /** Its errors. Default: those of Skill Sharing (CONTRACT C-6.4). */
  readonly error?: string;
}

const inPath = (name: string, description: string, schema: JsonSchema = { type: "string" }): JsonSchema => ({
  name,
  in: "path",
  required: true,
  description,
  schema,
});
const inQuery = (name: string, description: string, schema: JsonSchema = { type: "string" }): JsonSchema => ({
  name,
  in: "query",
  description,
  schema,
});
const content = (type: string, schema?: JsonSchema): JsonSchema => ({ [type]: schema === undefined ? {} : { schema } });
const answer = (description: string, schema: string): JsonSchema => ({
  description,
  content: content("application/json", toSchemaRef(schema)),
});
const text = (description: string, type: string): JsonSchema => ({
  description,
  content: content(type, { type: "string" }),
});
const unchanged: JsonSchema = { description: "The client has it: If-None-Match names its ETag." };
const cached = (response: JsonSchema): Readonly<Record<string, JsonSchema>> => ({ 200: response, 304: unchanged });

const slug = inPath("slug", "The name of a skill with hyphens for dots.", {
  type: "string",
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  maxLength: 64,
});
const execution = inPath("id", "The execution_id that the invocation was answered with.");
const share = inPath("token", "The secret of a shared set.");
const artifact = inPath("artifact", "As the index names it.");
const pages = [
  inQuery("type", "Only skills of this type: plugin, api, knowledge or task. Of an unknown type there are none."),
  inQuery("cursor", "next_cursor of the page before."),
  inQuery("limit", "Entries of a page.", { type: "integer", minimum: 1, maximum: 1_000 }),
];
const archive = { description: "A gzip of a ustar archive.", content: content("application/gzip") };
const skillText = text("SKILL.md.", "text/markdown; charset=utf-8");

const monitoring: readonly Operation[] = [
  {
    method: "get",
    path: "/healthz",
    id: "getHealth",
    summary: "Whether the server lives",
    responses: { 200: answer("It lives.", "Health") },
  },
  {
    method: "get",
    path: "/readyz",
    id: "getReadiness",
    summary: "Whether the server can serve",
    responses: { 200: answer("It can.", "Health"), 503: answer("It cannot, and why.", "Health") },
  },
  {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    summary: "Metrics in the text format of Prometheus",
    responses: { 200: text("The metrics.", "text/plain; version=0.0.4; charset=utf-8") },
  },
  {
    method: "get",
    path: "/events",
    id: "streamEvents",
    summary: "Server-sent events: catalog, run and reset",
    parameters: [{ name: "Last-Event-ID", in: "header", description: "Where to resume.", schema: { type: "string" } }],
    responses: {
      200: text("The events, without an end.", "text/event-stream"),
      503: answer("Too many streams are open, or the server is stopping.", "SharingError"),
    },
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    summary: "This document",
    responses: cached({ description: "The document.", content: content("application/json", { type: "object" }) }),
  },
];

const calls: readonly Operation[] = [
  {
    method: "post",
    path: "/rpc",
    id: "callTools",
    summary: "Call tools by JSON-RPC 2.0, one call or a batch",
    body: toSchemaRef("RpcRequests"),
    responses: {
      200: answer("The answers, errors included.", "RpcResponses"),
      204: { description: "Only notifications, which are not answered." },
    },
    error: "RpcError",
  },
  {
    method: "post",
    path: "/mcp",
    id: "speakMcp",
    summary: "The Model Context Protocol, Streamable HTTP",
    body: toSchemaRef("McpMessage"),
    responses: {
      200: {
        description: "A message, or a stream of messages.",
        content: { ...content("application/json"), ...content("text/event-stream") },
      },
      202: { description: "A notification, which is not answered." },
    },
    error: "McpError",
  },
];

const executionStatus = {
  path: "/skills/{slug}/executions/{id}",
  parameters: [slug, execution],
  responses: { 200: answer("Its status.", "ExecutionStatus") },
};

const sharing: readonly Operation[] = [
  {
    method: "get",
    path: "/.well-known/skill-sharing",
    id: "getSkillIndex",
    summary: "The skills that the caller may know of",
    parameters: pages,
    responses: cached(answer("One page.", "SkillIndex")),
  },
  {
    method: "get",
    path: "/skills",
    id: "listRegistry",
    summary: "The same as a registry",
    parameters: pages,
    responses: cached(answer("One page.", "RegistryPage")),
  },
  {
    method: "get",
    path: "/skills/{slug}/descriptor.json",
    id: "getSkillDescriptor",
    summary: "One skill: its inputs and output, and how it is used",
    parameters: [slug],
    responses: {
      ...cached(answer("The descriptor.", "SkillDescriptor")),
      503: answer("The files of the skill cannot be read now.", "SharingError"),
    },
  },
  {
    method: "post",
    path: "/skills/{slug}/executions",
    id: "startExecution",
    summary: "Invoke a skill of type api",
    parameters: [slug],
    body: toSchemaRef("ExecutionRequest"),
    responses: {
      202: answer("It was accepted.", "AcceptedExecution"),
      503: answer("It cannot run now.", "SharingError"),
    },
  },
  {
    method: "get",
    id: "getExecution",
    summary: "How far an execution is",
    ...executionStatus,
  },
  {
    method: "delete",
    id: "cancelExecution",
    summary: "Cancel an execution",
    ...executionStatus,
  },
  {
    method: "get",
    path: "/skills/{slug}/executions/{id}/result",
    id: "getExecutionResult",
    summary: "The result of an execution",
    parameters: [slug, execution],
    responses: {
      200: answer("It has ended.", "ExecutionResult"),
      202: answer("It has not ended yet.", "ExecutionStatus"),
    },
  },
];

/** For callers, and below the secret path of a shared set. */
const places = [
  { prefix: "", of: "", token: [] },
  { prefix: "/s/{token}", of: "Shared", token: [share] },
];

const agentSkills: readonly Operation[] = places.flatMap(({ prefix, of, token }): Operation[] => [
  {
    method: "get",
    path: `${prefix}/.well-known/agent-skills/index.json`,
    id: `get${of}AgentSkillsIndex`,
    summary: "The index of Agent Skills discovery 0.2",
    parameters: token,
    responses: cached(answer("The index.", "AgentSkillsIndex")),
  },
  {
    method: "get",
    path: `${prefix}/.well-known/agent-skills/{artifact}`,
    id: `get${of}Archive`,
    summary: "The files of a skill",
    parameters: [...token, artifact],
    responses: cached(archive),
  },
  {
    method: "get",
    path: `${prefix}/.well-known/agent-skills/{artifact}/SKILL.md`,
    id: `get${of}SkillText`,
    summary: "A skill that is one file",
    parameters: [...token, artifact],
    responses: cached(skillText),
  },
]);

const marketplace: JsonSchema = {
  description: "The marketplace.",
  content: content("application/json", {
    type: "object",
    properties: { name: { type: "string" }, owner: { type: "object" }, plugins: { type: "array" } },
    required: ["name", "owner", "plugins"],
  }),
};
const gitAnswer = (type: string): JsonSchema => ({ description: "Git's own format.", content: content(type) });

const plugins: readonly Operation[] = places.flatMap(({ prefix, of, token }): Operation[] => [
  {
    method: "get",
    path: `${prefix}/marketplace.json`,
    id: `get${of}Marketplace`,
    summary: "A marketplace of plugins, one for each skill",
    parameters: token,
    responses: cached(marketplace),
  },
  {
    method: "get",
    path: `${prefix}/.claude-plugin/marketplace.json`,
    id: `get${of}ClaudeMarketplace`,
    summary: "The same",
    parameters: token,
    responses: cached(marketplace),
  },
  {
    method: "get",
    path: `${prefix}/plugins.git/info/refs`,
    id: `get${of}PluginRefs`,
    summary: "The branches of the git repository of plugins",
    parameters: [
      ...token,
      { ...inQuery("service", "What git is about to do.", { const: "git-upload-pack" }), required: true },
    ],
    responses: { 200: gitAnswer("application/x-git-upload-pack-advertisement") },
  },
  {
    method: "post",
    path: `${prefix}/plugins.git/git-upload-pack`,
    id: `get${of}PluginPack`,
    summary: "The commits and files of the git repository of plugins",
    parameters: token,
    bodyType: "application/x-git-upload-pack-request",
    body: {},
    responses: { 200: gitAnswer("application/x-git-upload-pack-result") },
  },
]);

export const operations: readonly Operation[] = [...calls, ...sharing, ...agentSkills, ...plugins, ...monitoring];
