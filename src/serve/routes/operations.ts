/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One route, as OpenAPI describes it. */
export interface Operation {
  readonly method: "get" | "post" | "delete";
  /** Parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** By status; those of refusals are added. */
  readonly responses: Readonly<Record<string, JsonSchema>>;
  /** Besides those of the path. */
  readonly parameters?: readonly JsonSchema[];
  readonly body?: JsonSchema;
  /** Default: JSON. */
  readonly bodyType?: string;
  /** The schema of its errors. Default: that of Skill Sharing. */
  readonly error?: string;
}

export function toSchemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const content = (type: string, schema?: JsonSchema): JsonSchema => ({ [type]: schema === undefined ? {} : { schema } });
const file = (description: string, type: string, schema?: JsonSchema): JsonSchema => ({
  description,
  content: content(type, schema),
});
const text = (description: string, type: string): JsonSchema => file(description, type, { type: "string" });
const answer = (description: string, schema: string): JsonSchema =>
  file(description, "application/json", toSchemaRef(schema));
const unchanged: JsonSchema = { description: "The client has it: If-None-Match names its ETag." };
const cached = (response: JsonSchema): Operation["responses"] => ({ 200: response, 304: unchanged });
const unavailable = (description: string): JsonSchema => answer(description, "SharingError");

type Details = Omit<Operation, "method" | "path" | "id" | "summary" | "responses">;

const operation =
  (method: Operation["method"]) =>
  (path: string, id: string, summary: string, responses: Operation["responses"], details: Details = {}): Operation => ({
    method,
    path,
    id,
    summary,
    responses,
    ...details,
  });
const [get, post, remove] = [operation("get"), operation("post"), operation("delete")];

/** The parameters of paths, by name. */
export const pathParameters: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>> = {
  slug: {
    description: "The name of a skill with hyphens for dots.",
    schema: { type: "string", pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 64 },
  },
  id: { description: "The execution_id that the invocation was answered with.", schema: { type: "string" } },
  token: { description: "The secret of a shared set.", schema: { type: "string" } },
  artifact: { description: "As the index names it.", schema: { type: "string" } },
};

const inQuery = (name: string, description: string, schema: JsonSchema = { type: "string" }): JsonSchema => ({
  name,
  in: "query",
  description,
  schema,
});
const pages = {
  parameters: [
    inQuery("type", "Only skills of this type: plugin, api, knowledge or task. Of an unknown type there are none."),
    inQuery("cursor", "next_cursor of the page before."),
    inQuery("limit", "Entries of a page.", { type: "integer", minimum: 1, maximum: 1_000 }),
  ],
};
const resume = {
  parameters: [{ name: "Last-Event-ID", in: "header", description: "Where to resume.", schema: { type: "string" } }],
};
const service = {
  parameters: [{ ...inQuery("service", "What git is about to do.", { const: "git-upload-pack" }), required: true }],
};

const executions = "/skills/{slug}/executions";
const execution = `${executions}/{id}`;
const executionStatus = { 200: answer("Its status.", "ExecutionStatus") };
const mcpAnswer = {
  description: "A message, or a stream of messages.",
  content: { ...content("application/json"), ...content("text/event-stream") },
};
const marketplace = file("The marketplace.", "application/json", {
  type: "object",
  properties: { name: { type: "string" }, owner: { type: "object" }, plugins: { type: "array" } },
  required: ["name", "owner", "plugins"],
});
const git = (type: string): JsonSchema => file("Git's own format.", `application/x-git-upload-pack-${type}`);

/** Downloads for callers, and those of shares (`of`: "Shared") below a secret path. */
// prettier-ignore
const downloads = (prefix: string, of: string): readonly Operation[] => {
  const agentSkills = `${prefix}/.well-known/agent-skills`;
  return [
    get(`${agentSkills}/index.json`, `get${of}AgentSkillsIndex`, "The index of Agent Skills discovery 0.2", cached(answer("The index.", "AgentSkillsIndex"))),
    get(`${agentSkills}/{artifact}`, `get${of}Archive`, "The files of a skill", cached(file("A gzip of a ustar archive.", "application/gzip"))),
    get(`${agentSkills}/{artifact}/SKILL.md`, `get${of}SkillText`, "A skill that is one file", cached(text("SKILL.md.", "text/markdown; charset=utf-8"))),
    get(`${prefix}/marketplace.json`, `get${of}Marketplace`, "A marketplace of plugins, one for each skill", cached(marketplace)),
    get(`${prefix}/.claude-plugin/marketplace.json`, `get${of}ClaudeMarketplace`, "The marketplace, where Claude Code looks for it", cached(marketplace)),
    get(`${prefix}/plugins.git/info/refs`, `get${of}PluginRefs`, "The branches of the git repository of plugins", { 200: git("advertisement") }, service),
    post(`${prefix}/plugins.git/git-upload-pack`, `get${of}PluginPack`, "The commits and files of the git repository of plugins", { 200: git("result") }, { bodyType: "application/x-git-upload-pack-request", body: {} }),
  ];
};

// prettier-ignore
export const operations: readonly Operation[] = [
  post("/rpc", "callTools", "Call tools by JSON-RPC 2.0, one call or a batch", {
    200: answer("The answers, errors included.", "RpcResponses"),
    204: { description: "Only notifications, which are not answered." },
  }, { body: toSchemaRef("RpcRequests"), error: "RpcError" }),
  post("/mcp", "speakMcp", "The Model Context Protocol, Streamable HTTP", {
    200: mcpAnswer,
    202: { description: "A notification, which is not answered." },
  }, { body: toSchemaRef("McpMessage"), error: "McpError" }),
  get("/.well-known/skill-sharing", "getSkillIndex", "The skills that the caller may know of", cached(answer("One page.", "SkillIndex")), pages),
  get("/skills", "listRegistry", "The same as a registry", cached(answer("One page.", "RegistryPage")), pages),
  get("/skills/{slug}/descriptor.json", "getSkillDescriptor", "One skill: its inputs and output, and how it is used", {
    ...cached(answer("The descriptor.", "SkillDescriptor")),
    503: unavailable("The files of the skill cannot be read now."),
  }),
  post(executions, "startExecution", "Invoke a skill of type api", {
    202: answer("It was accepted.", "AcceptedExecution"),
    503: unavailable("It cannot run now."),
  }, { body: toSchemaRef("ExecutionRequest") }),
  get(execution, "getExecution", "The state of an execution", executionStatus),
  remove(execution, "cancelExecution", "Cancel an execution", executionStatus),
  get(`${execution}/result`, "getExecutionResult", "The result of an execution", {
    200: answer("It has ended.", "ExecutionResult"),
    202: answer("It has not ended yet.", "ExecutionStatus"),
  }),
  ...downloads("", ""),
  ...downloads("/s/{token}", "Shared"),
  get("/healthz", "getHealth", "Whether the server lives", { 200: answer("It lives.", "Health") }),
  get("/readyz", "getReadiness", "Whether the server can serve", {
    200: answer("It can.", "Health"),
    503: answer("It cannot, and why.", "Health"),
  }),
  get("/metrics", "getMetrics", "Metrics in the text format of Prometheus", { 200: text("The metrics.", "text/plain; version=0.0.4; charset=utf-8") }),
  get("/events", "streamEvents", "Server-sent events: catalog, run and reset", {
    200: text("The events, without an end.", "text/event-stream"),
    503: unavailable("Too many streams are open, or the server is stopping."),
  }, resume),
  get("/openapi.json", "getOpenApi", "This document", cached(file("The document.", "application/json", { type: "object" }))),
];
