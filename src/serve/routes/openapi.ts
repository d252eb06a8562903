import * as z from "zod";
import { toolDefinitions } from "../../runtime/tools.ts";
import {
  acceptedExecution,
  executionResult,
  executionStatus,
  registryPage,
  sharingError,
  sharingVersion,
  skillDescriptor,
  skillIndex,
} from "../../wire/skill-sharing.ts";
import { type CachedResponse, sendCached, toCachedResponse } from "../cached-response.ts";
import type { ServeConfig } from "../config.ts";
import { executionParameters } from "../publish.ts";
import type { CreateRoutes } from "../serve-context.ts";
import { type JsonSchema, type Operation, operations, pathParameters, toSchemaRef } from "./operations.ts";

/** `GET /openapi.json`: the same for everybody, made at the first request. */
export const openApiRoutes: CreateRoutes = ({ app, config, baseUrl }) => {
  let cached: CachedResponse | undefined;
  return [
    {
      method: "GET",
      path: "/openapi.json",
      isIndependent: true,
      answer(exchange) {
        cached ??= toCachedResponse(JSON.stringify(toOpenApi({ baseUrl: baseUrl(), version: app.version, config })));
        return sendCached(exchange, cached, { isPublic: true });
      },
    },
  ];
};

/** The facts of the server that the document states. */
export interface DescribedServer {
  readonly baseUrl: string;
  readonly version: string;
  readonly config: Pick<ServeConfig, "provider" | "limits">;
}

/**
 * The description of every route (OpenAPI 3.1), from the schemas by which the server reads and writes. The same for all callers: it describes
 * the possible requests, not which skills there are. Pure.
 */
export function toOpenApi({ baseUrl, version, config: { provider, limits } }: DescribedServer): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) (paths[operation.path] ??= {})[operation.method] = toOperation(operation);
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: `Skills of ${provider.name}`,
      version,
      description: `The tools by JSON-RPC and MCP, and skills by Skill Sharing ${sharingVersion} and Agent Skills discovery 0.2.`,
    },
    servers: [{ url: baseUrl }],
    // With a token, or without: then only what is public.
    security: [{ bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { ...rpcSchemas(limits.batch), ...sharingSchemas(), McpMessage: mcpMessage, McpError: mcpError },
    },
  };
}

function toOperation(operation: Operation): JsonSchema {
  const { path, id, summary, parameters: others = [], body, responses } = operation;
  const { bodyType = "application/json", error = "SharingError" } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    return { name, in: "path", required: true, ...pathParameters[name] };
  });
  const parameters = [...inPath, ...others];
  const refusal = {
    description: "The request is refused: 401 without a valid token, 429 over a limit, and so on.",
    content: { "application/json": { schema: toSchemaRef(error) } },
  };
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { [bodyType]: { schema: body } } } }),
    responses: { ...responses, "4XX": refusal },
  };
}

function strictObject(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const text = { type: "string" };
const rpcVersion = { const: "2.0" };
const rpcId = { type: ["string", "number", "null"] };

/** Calls of the tools at `/rpc`: for each tool its input, its output and the request that calls it. */
function rpcSchemas(maxBatch: number): Readonly<Record<string, JsonSchema>> {
  const tools = toolDefinitions("json-schema");
  const schemas: Record<string, JsonSchema> = {};
  for (const { name, description, parameters, response } of tools) {
    schemas[`${name}.input`] = parameters;
    schemas[`${name}.output`] = response;
    const params = toSchemaRef(`${name}.input`);
    const properties = { jsonrpc: rpcVersion, id: rpcId, method: { const: name }, params };
    const required = ["jsonrpc", "method", ...((parameters.required ?? []).length > 0 ? ["params"] : [])];
    // Fields that JSON-RPC does not know are ignored.
    schemas[`${name}.call`] = { title: name, description, type: "object", properties, required };
  }
  const batchOf = (name: string): JsonSchema => ({
    oneOf: [toSchemaRef(name), { type: "array", items: toSchemaRef(name), minItems: 1, maxItems: maxBatch }],
  });
  return {
    ...schemas,
    RpcRequest: { oneOf: tools.map(({ name }) => toSchemaRef(`${name}.call`)) },
    RpcResult: strictObject({
      jsonrpc: rpcVersion,
      id: rpcId,
      result: { anyOf: tools.map(({ name }) => toSchemaRef(`${name}.output`)) },
    }),
    RpcError: strictObject({ jsonrpc: rpcVersion, id: rpcId, error: toSchemaRef("WireError") }),
    RpcResponse: { oneOf: [toSchemaRef("RpcResult"), toSchemaRef("RpcError")] },
    RpcRequests: batchOf("RpcRequest"),
    RpcResponses: batchOf("RpcResponse"),
    WireError: wireError,
  };
}

const violation = strictObject({ field: text, expected: text, actual: {} }, ["field", "expected"]);
const wireError: JsonSchema = strictObject({
  code: { enum: [-32700, -32600, -32601, -32602, -32603, -32001, -32000] },
  message: text,
  data: strictObject(
    {
      code: { ...text, description: "What to switch on: a stable code such as SKILL_NOT_FOUND." },
      hint: text,
      available: { type: "array", items: text, maxItems: 10 },
      violations: { type: "array", items: violation },
      limit: text,
      error_id: text,
      retryable: { type: "boolean" },
    },
    ["code", "retryable"],
  ),
});

/** The documents of Skill Sharing, from the schemas that also read those of others. */
function sharingSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ readonly id: string }>();
  const documents = {
    SkillIndex: skillIndex,
    RegistryPage: registryPage,
    SkillDescriptor: skillDescriptor,
    AcceptedExecution: acceptedExecution,
    ExecutionStatus: executionStatus,
    ExecutionResult: executionResult,
    SharingError: sharingError,
  };
  for (const [id, schema] of Object.entries(documents)) registry.add(schema, { id });
  // As for readers: keys may be added to documents later.
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => String(toSchemaRef(id).$ref) });
  // The dialect is that of the document; `$id` would be none that a URI can have.
  const withoutIds = (schema: object): JsonSchema =>
    Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema" && name !== "$id"));
  const execute = toolDefinitions("json-schema", { tools: ["execute_skill"] })[0];
  const parameters = executionParameters.map((name) => [name, execute?.parameters.properties[name]]);
  return {
    ...Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIds(schema)])),
    ExecutionRequest: strictObject(Object.fromEntries(parameters) as JsonSchema, []),
    AgentSkillsIndex: agentSkillsIndex,
    Health: strictObject({ status: { enum: ["ok", "not ready"] }, reason: text }, ["status"]),
  };
}

const agentSkillsIndex: JsonSchema = strictObject({
  $schema: text,
  skills: {
    type: "array",
    items: strictObject({
      name: { ...text, pattern: "^[a-z0-9-]{1,64}$" },
      type: { enum: ["skill-md", "archive"] },
      description: { ...text, maxLength: 1_024 },
      url: text,
      digest: { ...text, pattern: "^sha256:[0-9a-f]{64}$" },
    }),
  },
});

/** A message of any revision of MCP; before 2025-06-18 also a batch. */
const mcpMessage: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number"] },
    method: { ...text, examples: ["tools/list", "tools/call", "resources/list", "initialize"] },
    params: { type: "object" },
  },
  required: ["jsonrpc"],
};

/** The errors that the MCP library writes have less in them than ours. */
const mcpError: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    error: {
      type: "object",
      properties: { code: { type: "integer" }, message: text },
      required: ["code", "message"],
    },
  },
  required: ["jsonrpc", "error"],
};
